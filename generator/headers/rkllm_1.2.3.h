// The C interface of Rockchip's RKLLM runtime, version 1.2.3 (and 1.2.1 and 1.2.2), stated by this project: the names,
// order, types and values are those of the published interface (see SOURCES.json); every word of documentation is our
// own, and modest: what was measured with the 1.3.0 runtime alone is not claimed of this one. Compiles alone, as C11
// and as C++.
//
// Words used throughout: a handle is one initialised model; a run is one inference; the KV cache is the memory of the
// tokens that a handle has computed; a token is an index into the model's vocabulary.
//
// Unless a function says otherwise it returns 0 for success.

#ifndef _RKLLM_H_  // the guard of the published file, so that the two are never mixed in one program
#define _RKLLM_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** CPU core 0, as a bit of RKLLMExtendParam.enabled_cpus_mask. */
#define CPU0 (1 << 0)
/** CPU core 1, as a bit of RKLLMExtendParam.enabled_cpus_mask. */
#define CPU1 (1 << 1)
/** CPU core 2, as a bit of RKLLMExtendParam.enabled_cpus_mask. */
#define CPU2 (1 << 2)
/** CPU core 3, as a bit of RKLLMExtendParam.enabled_cpus_mask. */
#define CPU3 (1 << 3)
/** CPU core 4, as a bit of RKLLMExtendParam.enabled_cpus_mask; a fast core on RK3588 and RK3576. */
#define CPU4 (1 << 4)
/** CPU core 5, as a bit of RKLLMExtendParam.enabled_cpus_mask; a fast core on RK3588 and RK3576. */
#define CPU5 (1 << 5)
/** CPU core 6, as a bit of RKLLMExtendParam.enabled_cpus_mask; a fast core on RK3588 and RK3576. */
#define CPU6 (1 << 6)
/** CPU core 7, as a bit of RKLLMExtendParam.enabled_cpus_mask; a fast core on RK3588 and RK3576. */
#define CPU7 (1 << 7)

/** An initialised model. Made by rkllm_init, ended by rkllm_destroy, opaque in between. */
typedef void* LLMHandle;

/** What a call of the result callback is about. */
typedef enum {
  /** A token was generated; or, in the modes that return rows of numbers, the rows are here. */
  RKLLM_RUN_NORMAL = 0,
  /** A token was generated that leaves a UTF-8 character unfinished; a later token ends it. */
  RKLLM_RUN_WAITING = 1,
  /** The run has ended. */
  RKLLM_RUN_FINISH = 2,
  /** The run has failed. */
  RKLLM_RUN_ERROR = 3
} LLMCallState;

/** Which member of the union in RKLLMInput holds the input. */
typedef enum {
  /** Text, wrapped in the chat template of the model. */
  RKLLM_INPUT_PROMPT = 0,
  /** Token ids, taken as they are, without a template. */
  RKLLM_INPUT_TOKEN = 1,
  /** Embedding vectors, taken as they are, without a template. */
  RKLLM_INPUT_EMBED = 2,
  /** Text with images, wrapped in the chat template of the model. */
  RKLLM_INPUT_MULTIMODAL = 3
} RKLLMInputType;

/** What a run computes. */
typedef enum {
  /** Text, token by token. */
  RKLLM_INFER_GENERATE = 0,
  /** The last hidden layer of each input token; nothing is generated. */
  RKLLM_INFER_GET_LAST_HIDDEN_LAYER = 1,
  /** Text as in RKLLM_INFER_GENERATE, and the logits with every token. */
  RKLLM_INFER_GET_LOGITS = 2
} RKLLMInferMode;

/** The rarer parameters of a model, set once in rkllm_init. */
typedef struct {
  /** IOMMU domain that the model's weights are placed in. A domain spans about 4 GB of NPU addresses: a second large
      model, or a vision model beside it, needs another domain. */
  int32_t base_domain_id;
  /** 1: token embeddings are read from flash when needed, which saves memory; 0: they are held in memory. */
  int8_t embed_flash;
  /** How many CPU cores the runtime's threads are pinned to: the number of bits in enabled_cpus_mask. */
  int8_t enabled_cpus_num;
  /** The CPU cores themselves, one bit each (CPU0 to CPU7). */
  uint32_t enabled_cpus_mask;
  /** How many inputs one run processes side by side. With more than 1, the input of a run, the result of a callback and
      the KV cache functions are arrays of that length. */
  uint8_t n_batch;
  /** Other than 0: the decoder attends to what rkllm_set_cross_attn_params set; 0: off. Only for models built with
      it. */
  int8_t use_cross_attn;
  /** Must be zero. */
  uint8_t reserved[104];
} RKLLMExtendParam;

/** The parameters of a model, set once in rkllm_init. Start from rkllm_createDefaultParam. */
typedef struct {
  /** Path of the .rkllm file. */
  const char* model_path;
  /** Size of the context window, in tokens. Must not exceed what the model was built for. */
  int32_t max_context_len;
  /** The most tokens that one run generates. */
  int32_t max_new_tokens;
  /** Sampling considers the k most probable tokens only; 1 is greedy. */
  int32_t top_k;
  /** How many tokens at the start of the context survive when a conversation outgrows it; -1: none are kept on purpose.
      Must be less than max_context_len. In conversations at least the length of the system prompt. */
  int32_t n_keep;
  /** Sampling considers the smallest set of tokens whose probabilities add up to this, in [0, 1]. */
  float top_p;
  /** Divides the logits before sampling: below 1 sharper, above 1 more varied. */
  float temperature;
  /** Penalty for tokens that have occurred; 1 is none, above 1 discourages repetition. */
  float repeat_penalty;
  /** Penalty that grows with how often a token has occurred; 0 is none, in [-2, 2]. */
  float frequency_penalty;
  /** Penalty for a token that has occurred at all; 0 is none, in [-2, 2]. */
  float presence_penalty;
  /** Mirostat sampling, which steers towards a constant surprise: 0 off, 1 Mirostat, 2 Mirostat 2.0. */
  int32_t mirostat;
  /** Surprise that Mirostat aims at; higher is more varied. */
  float mirostat_tau;
  /** How fast Mirostat adapts. */
  float mirostat_eta;
  /** True: special tokens (end of text, say) are left out of the text; false: their text is shown. */
  bool skip_special_token;
  /** True: rkllm_run_async works. False: only rkllm_run does. */
  bool is_async;
  /** Text put before the vectors of each image, as the model wants it. */
  const char* img_start;
  /** Text put after the vectors of each image, as the model wants it. */
  const char* img_end;
  /** Text of the token that stands for one vector of an image. */
  const char* img_content;
  /** The rarer parameters. */
  RKLLMExtendParam extend_param;
} RKLLMParam;

/** A LoRA adapter to load. */
typedef struct {
  /** Path of the converted adapter file. */
  const char* lora_adapter_path;
  /** The name that runs select it by; must not be in use on this handle. */
  const char* lora_adapter_name;
  /** How strongly the adapter is applied; 1 is as trained. */
  float scale;
} RKLLMLoraAdapter;

/** Input given as embedding vectors. */
typedef struct {
  /** n_tokens vectors of the model's embedding size, one after the other. */
  float* embed;
  /** Number of vectors, 1 to the size of the context window. */
  size_t n_tokens;
} RKLLMEmbedInput;

/** Input given as token ids. */
typedef struct {
  /** The ids, each below the size of the vocabulary. */
  int32_t* input_ids;
  /** Number of ids, at least 1. */
  size_t n_tokens;
} RKLLMTokenInput;

/** Text with images that a vision model has encoded before. */
typedef struct {
  /** The text, with one <image> tag for each image. */
  char* prompt;
  /** n_image * n_image_tokens vectors of the model's embedding size, image by image. */
  float* image_embed;
  /** Vectors per image. */
  size_t n_image_tokens;
  /** Number of images. */
  size_t n_image;
  /** Width of the encoded image, in pixels. */
  size_t image_width;
  /** Height of the encoded image, in pixels. */
  size_t image_height;
} RKLLMMultiModalInput;  // RKLLMMultiModelInput until 1.2.2, with the same layout

/** The input of a run. With n_batch > 1, an array of n_batch of these. */
typedef struct {
  /** Who speaks: "user" or "tool". */
  const char* role;
  /** False: a model that thinks before it answers is told not to (if its template knows how). */
  bool enable_thinking;
  /** Which member of the union is meant. */
  RKLLMInputType input_type;
  union {
    /** The text, for RKLLM_INPUT_PROMPT. */
    const char* prompt_input;
    /** The vectors, for RKLLM_INPUT_EMBED. */
    RKLLMEmbedInput embed_input;
    /** The token ids, for RKLLM_INPUT_TOKEN. */
    RKLLMTokenInput token_input;
    /** Text with images, for RKLLM_INPUT_MULTIMODAL. */
    RKLLMMultiModalInput multimodal_input;
  };
} RKLLMInput;

/** The LoRA adapter of one run. */
typedef struct {
  /** Name given to rkllm_load_lora. */
  const char* lora_adapter_name;
} RKLLMLoraParam;

/** Saving the prompt cache in one run. */
typedef struct {
  /** 1: the KV cache is written to a file once the prompt is computed; 0: it is not. */
  int save_prompt_cache;
  /** File to write. */
  const char* prompt_cache_path;
} RKLLMPromptCacheParam;

/** What the decoder of a model with cross attention attends to. Every pointer must be set. */
typedef struct {
  /** Keys, [layers][num_tokens][kv_heads][head_dim]. */
  float* encoder_k_cache;
  /** Values, [layers][kv_heads][head_dim][num_tokens]: the same number of floats as the keys. */
  float* encoder_v_cache;
  /** Attention mask, [num_tokens]. */
  float* encoder_mask;
  /** Positions, [num_tokens]. */
  int32_t* encoder_pos;
  /** Number of encoder tokens. */
  int num_tokens;
} RKLLMCrossAttnParam;

/** The parameters of one run. */
typedef struct {
  /** What the run computes. */
  RKLLMInferMode mode;
  /** The LoRA adapter to use; NULL: the bare model. */
  RKLLMLoraParam* lora_params;
  /** Whether the prompt cache is saved; NULL: no. */
  RKLLMPromptCacheParam* prompt_cache_params;
  /** 0: a single turn, the conversation so far is dropped; 1: the input continues the conversation in the KV cache. */
  int keep_history;
} RKLLMInferParam;

/** Rows of the last hidden layer, valid only inside the callback. */
typedef struct {
  /** num_tokens rows of embd_size floats; only in RKLLM_INFER_GET_LAST_HIDDEN_LAYER. */
  const float* hidden_states;
  /** Floats per row: the model's embedding size. */
  int embd_size;
  /** Number of rows. */
  int num_tokens;
} RKLLMResultLastHiddenLayer;

/** Rows of logits, valid only inside the callback. */
typedef struct {
  /** num_tokens rows of vocab_size floats; only in RKLLM_INFER_GET_LOGITS. */
  const float* logits;
  /** Floats per row: the size of the model's vocabulary. */
  int vocab_size;
  /** Number of rows. */
  int num_tokens;
} RKLLMResultLogits;

/** How a run performed. Filled in with RKLLM_RUN_FINISH only. */
typedef struct {
  /** Time spent on the prompt, in milliseconds. */
  float prefill_time_ms;
  /** Prompt tokens computed. */
  int prefill_tokens;
  /** Time spent on generating, in milliseconds. */
  float generate_time_ms;
  /** Tokens generated. */
  int generate_tokens;
  /** The most memory that the process has held so far, in MB. */
  float memory_usage_mb;
} RKLLMPerfStat;

/** What a result callback is given. With n_batch > 1, an array of n_batch of these. Dead when the callback returns. */
typedef struct {
  /** The text of the token. */
  const char* text;
  /** The token. */
  int32_t token_id;
  /** The last hidden layer, in RKLLM_INFER_GET_LAST_HIDDEN_LAYER. */
  RKLLMResultLastHiddenLayer last_hidden_layer;
  /** The logits, in RKLLM_INFER_GET_LOGITS. */
  RKLLMResultLogits logits;
  /** Performance, at the end of the run. */
  RKLLMPerfStat perf;
} RKLLMResult;

/**
 * Receives what a run yields: one call for each token, then one with RKLLM_RUN_FINISH. From rkllm_run it comes on the
 * calling thread, from rkllm_run_async on a thread of the runtime.
 *
 * @param result what was generated (n_batch entries).
 * @param userdata the userdata of the run.
 * @param state what this call is about.
 * @return 0 goes on; 1 pauses the run.
 */
typedef int (*LLMResultCallback)(RKLLMResult* result, void* userdata, LLMCallState state);

/**
 * Gives the default parameters, with no model path.
 *
 * @return the defaults.
 */
RKLLMParam rkllm_createDefaultParam(void);

/**
 * Loads a model and makes a handle of it. Takes seconds, and most of the memory of the board.
 *
 * Trap: version 1.3.0 takes a pointer to a struct of callbacks in the third place. The compiler of a program notices, a
 * library that is exchanged underneath it does not.
 *
 * @param handle receives the handle.
 * @param param the parameters.
 * @param callback receives what runs yield.
 * @return 0 on success.
 */
int rkllm_init(LLMHandle* handle, RKLLMParam* param, LLMResultCallback callback);

/**
 * Loads a LoRA adapter, to be chosen by name in a run. There is no unloading.
 *
 * @param handle the model.
 * @param lora_adapter the adapter.
 * @return 0 on success.
 */
int rkllm_load_lora(LLMHandle handle, RKLLMLoraAdapter* lora_adapter);

/**
 * Loads a prompt cache that a run has saved.
 *
 * @param handle the model; must be the one that saved it.
 * @param prompt_cache_path the file.
 * @return 0 on success.
 */
int rkllm_load_prompt_cache(LLMHandle handle, const char* prompt_cache_path);

/**
 * Lets go of the loaded prompt cache; the next run starts cold.
 *
 * @param handle the model.
 * @return 0 on success.
 */
int rkllm_release_prompt_cache(LLMHandle handle);

/**
 * Ends a handle and frees its memory. Must not be called during a run, nor twice.
 *
 * @param handle the model.
 * @return 0 on success.
 */
int rkllm_destroy(LLMHandle handle);

/**
 * Runs the model on an input and returns when the run has ended. The result callback is called on this thread.
 *
 * @param handle the model.
 * @param rkllm_input the input; n_batch of them.
 * @param rkllm_infer_params the parameters of the run.
 * @param userdata given to the result callback.
 * @return 0 on success.
 */
int rkllm_run(LLMHandle handle, RKLLMInput* rkllm_input, RKLLMInferParam* rkllm_infer_params, void* userdata);

/**
 * Starts a run and returns at once. The result callback is called on a thread of the runtime.
 *
 * Needs RKLLMParam.is_async to have been true in rkllm_init.
 *
 * @param handle the model.
 * @param rkllm_input the input; n_batch of them.
 * @param rkllm_infer_params the parameters of the run.
 * @param userdata given to the result callback.
 * @return 0 when the run was started.
 */
int rkllm_run_async(LLMHandle handle, RKLLMInput* rkllm_input, RKLLMInferParam* rkllm_infer_params, void* userdata);

/**
 * Stops what runs on a handle.
 *
 * @param handle the model.
 * @return 0 on success.
 */
int rkllm_abort(LLMHandle handle);

/**
 * Tells whether a run goes on.
 *
 * Trap: the published documentation of this version says that 0 means running. That of 1.3.0 says 1, and the 1.3.0
 * runtime does return 1 while running and 0 when idle. What the runtime of this version does has not been measured.
 *
 * @param handle the model.
 * @return 0 or another value; which means running is in doubt, see above.
 */
int rkllm_is_running(LLMHandle handle);

/**
 * Empties the KV cache, or takes a range out of it. Must not be called during a run.
 *
 * @param handle the model.
 * @param keep_system_prompt 1 keeps the tokens of the system prompt; 0 keeps nothing. Ignored when a range is given.
 * @param start_pos first position to take out, n_batch values; NULL: everything.
 * @param end_pos position after the last one to take out, n_batch values; NULL: everything.
 * @return 0 on success.
 */
int rkllm_clear_kv_cache(LLMHandle handle, int keep_system_prompt, int* start_pos, int* end_pos);

/**
 * Tells how many tokens the KV cache holds.
 *
 * @param handle the model.
 * @param cache_sizes receives n_batch values.
 * @return 0 on success.
 */
int rkllm_get_kv_cache_size(LLMHandle handle, int* cache_sizes);

/**
 * Replaces the model's chat template: the model then reads system_prompt, prompt_prefix, the prompt, prompt_postfix.
 *
 * @param handle the model.
 * @param system_prompt text before the first turn; may be "".
 * @param prompt_prefix text before each prompt; may be "".
 * @param prompt_postfix text after each prompt; may be "".
 * @return 0 on success.
 */
int rkllm_set_chat_template(LLMHandle handle, const char* system_prompt, const char* prompt_prefix,
                            const char* prompt_postfix);

/**
 * Tells the model which tools it may call. The model then writes its calls as text; the runtime does not parse them.
 * Results go back in a run with role "tool". Needs a model whose chat template knows tools.
 *
 * @param handle the model.
 * @param system_prompt the system message; may be "".
 * @param tools JSON: an array of tools in OpenAI's form, {"type":"function","function":{"name","description",
 *        "parameters"}}.
 * @param tool_response_str name of the tag that each tool result is wrapped in, e.g. "tool_response".
 * @return 0 on success.
 */
int rkllm_set_function_tools(LLMHandle handle, const char* system_prompt, const char* tools,
                             const char* tool_response_str);

/**
 * Sets what the decoder attends to, for models with cross attention. Needs use_cross_attn in rkllm_init.
 *
 * @param handle the model.
 * @param cross_attn_params keys, values, mask and positions.
 * @return 0 on success.
 */
int rkllm_set_cross_attn_params(LLMHandle handle, RKLLMCrossAttnParam* cross_attn_params);

#ifdef __cplusplus
}
#endif

#endif  // _RKLLM_H_
