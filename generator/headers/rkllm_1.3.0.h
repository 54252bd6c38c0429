// The C interface of Rockchip's RKLLM runtime, version 1.3.0, stated by this project: the names, order, types and
// values are those of the published interface (see SOURCES.json); every word of documentation is our own, and says what
// was measured with the 1.3.0 runtime. Compiles alone, as C11 and as C++.
//
// Words used throughout: a handle is one initialised model; a run is one inference; the KV cache is the memory of the
// tokens that a handle has computed; a token is an index into the model's vocabulary.
//
// Unless a function says otherwise it returns 0 for success and -1 for failure, and answers -1 to a NULL handle.
// Nothing here is locked: calls on one handle must not overlap, but for rkllm_abort and rkllm_is_running.

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
  /** A token was generated that leaves a UTF-8 character unfinished; the text is NULL until a later token ends it. */
  RKLLM_RUN_WAITING = 1,
  /** The run has ended, by itself or by rkllm_abort; the result holds the performance figures and no text. */
  RKLLM_RUN_FINISH = 2,
  /** The run has failed; the result is NULL and no RKLLM_RUN_FINISH follows. Most failures never get here: they only
      show in what rkllm_run returns. */
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
  /** Text with images or videos, wrapped in the chat template of the model. */
  RKLLM_INPUT_MULTIMODAL = 3
} RKLLMInputType;

/** What a run computes. */
typedef enum {
  /** Text, token by token. */
  RKLLM_INFER_GENERATE = 0,
  /** The last hidden layer of each input token, in one callback; nothing is generated. */
  RKLLM_INFER_GET_LAST_HIDDEN_LAYER = 1,
  /** Text as in RKLLM_INFER_GENERATE, and the logits with every token. With max_new_tokens 1: one scoring pass. */
  RKLLM_INFER_GET_LOGITS = 2
} RKLLMInferMode;

/** The rarer parameters of a model, set once in rkllm_init. */
typedef struct {
  /** IOMMU domain that the model's weights are placed in. A domain spans about 4 GB of NPU addresses: a second large
      model, or a vision model beside it, needs another domain (0 and 1 are in use). */
  int32_t base_domain_id;
  /** 1: token embeddings are read from flash when needed, which saves memory; 0: they are held in memory. */
  int8_t embed_flash;
  /** How many CPU cores the runtime's threads are pinned to, 1 to 8 (1 to 4 on RK3562). Must equal the number of bits
      in enabled_cpus_mask and be at least the number of NPU cores that the model was built for, or rkllm_init fails. */
  int8_t enabled_cpus_num;
  /** The CPU cores themselves, one bit each (CPU0 to CPU7). rkllm_createDefaultParam sets it on machines with 8 cores
      online (0xf0) or 4 (0x0f), and leaves it undefined on all others. */
  uint32_t enabled_cpus_mask;
  /** How many inputs one run processes side by side, 1 to 100; at most 8 is advised. With more than 1, the input of a
      run, the result of a callback and the KV cache functions are arrays of that length. */
  uint8_t n_batch;
  /** 1: the decoder attends to what rkllm_set_cross_attn_params set; 0: off. Only for models built with it. */
  int8_t use_cross_attn;
  /** Must be zero. */
  uint8_t reserved[104];
} RKLLMExtendParam;

/** The parameters of a model, set once in rkllm_init. Start from rkllm_createDefaultParam. */
typedef struct {
  /** Path of the .rkllm file. NULL crashes the runtime; the string is copied. */
  const char* model_path;
  /** Size of the context window, in tokens; rounded up to a multiple of 32. Must not exceed what the model was built
      for. A window of 0 is accepted by rkllm_init, but every run then fails. */
  int32_t max_context_len;
  /** The most tokens that one run generates. Values of 0 and below mean one token, not "no limit". */
  int32_t max_new_tokens;
  /** Sampling considers the k most probable tokens only; 1 is greedy. */
  int32_t top_k;
  /** How many tokens at the start of the context survive when a conversation outgrows it; -1: none are kept on purpose.
      Must be less than max_context_len. In conversations at least the length of the system prompt. */
  int32_t n_keep;
  /** Sampling considers the smallest set of tokens whose probabilities add up to this, in [0, 1]. */
  float top_p;
  /** Divides the logits before sampling: below 1 sharper, above 1 more varied, 0 greedy. */
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
  /** True: special tokens (end of text, say) arrive as empty text; false: their text is shown. */
  bool skip_special_token;
  /** True: the end-of-text token is never sampled, so a run goes on to max_new_tokens. */
  bool ignore_eos_token;
  /** True: rkllm_run_async works, and calls back from a thread of the runtime. False: rkllm_run_async returns 0 and
      does nothing at all. rkllm_run works either way. */
  bool is_async;
  /** The rarer parameters. */
  RKLLMExtendParam extend_param;
} RKLLMParam;

/** A LoRA adapter to load. */
typedef struct {
  /** Path of the converted adapter file. NULL crashes the runtime. */
  const char* lora_adapter_path;
  /** The name that runs select it by; must not be in use on this handle. NULL aborts the process. */
  const char* lora_adapter_name;
  /** How strongly the adapter is applied; 1 is as trained. */
  float scale;
} RKLLMLoraAdapter;

/** Input given as embedding vectors. */
typedef struct {
  /** n_tokens vectors of the model's embedding size, one after the other. NULL counts as empty input. */
  float* embed;
  /** Number of vectors, 1 to the size of the context window. */
  size_t n_tokens;
} RKLLMEmbedInput;

/** Input given as token ids. */
typedef struct {
  /** The ids. An id at or above the size of the vocabulary crashes the runtime; NULL counts as empty input. */
  int32_t* input_ids;
  /** Number of ids. With 0 the runtime goes on from an undefined state. */
  size_t n_tokens;
} RKLLMTokenInput;

/** Text with images, or with videos, that a vision model has encoded before. */
typedef struct {
  /** The text, with one <image> or <video> tag for each image or video. NULL counts as empty input: the run returns 0
      and generates nothing. */
  char* prompt;
  /** The images. All zero if there are none. */
  struct {
    /** n_image * n_image_tokens vectors of the model's embedding size, image by image. */
    float* image_embed;
    /** Vectors per image; 0 counts as no image. For models with two-dimensional positions it must equal
        (image_width / patch) * (image_height / patch). */
    size_t n_image_tokens;
    /** Number of images; must equal the number of <image> tags. */
    size_t n_image;
    /** Text put before the vectors of each image, as the model wants it; may be "", NULL makes the run fail. */
    const char* image_start;
    /** Text put after the vectors of each image; may be "", NULL makes the run fail. */
    const char* image_end;
    /** Text of the token that stands for one vector; "" or NULL makes the run fail. */
    const char* image_content;
    /** Width of the encoded image, in pixels. */
    size_t image_width;
    /** Height of the encoded image, in pixels. */
    size_t image_height;
  } image;
  /** The videos. All zero if there are none. */
  struct {
    /** n_video * n_frame_per_video * n_frame_tokens vectors of the model's embedding size, video by video. */
    float* video_embed;
    /** Vectors per frame. */
    size_t n_frame_tokens;
    /** Frames per video. */
    size_t n_frame_per_video;
    /** Number of videos; must equal the number of <video> tags. */
    size_t n_video;
    /** Text put before the vectors of each video; may be "", NULL makes the run fail. */
    const char* video_start;
    /** Text put after the vectors of each video; may be "", NULL makes the run fail. */
    const char* video_end;
    /** Text of the token that stands for one vector; "" or NULL makes the run fail. */
    const char* video_content;
    /** Width of an encoded frame, in pixels. */
    size_t frame_width;
    /** Height of an encoded frame, in pixels. */
    size_t frame_height;
  } video;
} RKLLMMultiModalInput;

/** The input of a run. With n_batch > 1, an array of n_batch of these. */
typedef struct {
  /** Who speaks: "user" or "tool". NULL and every other text count as "user". With "tool" the prompt is a JSON array of
      tool results. */
  const char* role;
  /** False: a model that thinks before it answers is told not to (if its template knows how). No effect after
      rkllm_set_chat_template. */
  bool enable_thinking;
  /** Which member of the union is meant. */
  RKLLMInputType input_type;
  union {
    /** The text, for RKLLM_INPUT_PROMPT. NULL is skipped: the run returns 0 and generates nothing. */
    const char* prompt_input;
    /** The vectors, for RKLLM_INPUT_EMBED. */
    RKLLMEmbedInput embed_input;
    /** The token ids, for RKLLM_INPUT_TOKEN. */
    RKLLMTokenInput token_input;
    /** Text with images or videos, for RKLLM_INPUT_MULTIMODAL. */
    RKLLMMultiModalInput multimodal_input;
  };
} RKLLMInput;

/** The LoRA adapter of one run. */
typedef struct {
  /** Name given to rkllm_load_lora. An unknown name makes the run return -1; NULL aborts the process. */
  const char* lora_adapter_name;
} RKLLMLoraParam;

/** Saving the prompt cache in one run. */
typedef struct {
  /** 1: the KV cache is written to a file once the prompt is computed, before the first token; 0: it is not. */
  int save_prompt_cache;
  /** File to write; NULL means ./prompt_cache.bin. A file that cannot be written is passed over in silence. */
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

/** Sampling of one run. All nine values replace those of the handle; zeros are taken literally. Values out of range are
    not refused. */
typedef struct {
  /** Sampling considers the k most probable tokens only; 1 is greedy. */
  int32_t top_k;
  /** Sampling considers the smallest set of tokens whose probabilities add up to this, in [0, 1]. */
  float top_p;
  /** Divides the logits before sampling: below 1 sharper, above 1 more varied, 0 greedy. */
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
} RKLLMSamplingParam;

/** The parameters of one run. */
typedef struct {
  /** What the run computes. A value that is no enumerator counts as RKLLM_INFER_GENERATE. */
  RKLLMInferMode mode;
  /** The LoRA adapter to use; NULL: the bare model. */
  RKLLMLoraParam* lora_params;
  /** Whether the prompt cache is saved; NULL: no. */
  RKLLMPromptCacheParam* prompt_cache_params;
  /** Sampling for this run only; NULL: that of the handle. */
  RKLLMSamplingParam* sampling_params;
  /** 0: a single turn, the conversation so far is dropped (a common prefix with the previous prompt is still reused);
      1: the input continues the conversation in the KV cache. With n_batch > 1 only the first such run succeeds. */
  int keep_history;
  /** The most tokens that this run generates; 0 and below: what rkllm_init was given. */
  int32_t max_new_tokens;
} RKLLMInferParam;

/** Rows of the last hidden layer, valid only inside the callback. */
typedef struct {
  /** num_tokens rows of embd_size floats; NULL in other modes than RKLLM_INFER_GET_LAST_HIDDEN_LAYER. */
  const float* hidden_states;
  /** Floats per row: the model's embedding size. */
  int embd_size;
  /** Number of rows: the tokens computed in this run. Tokens found in the KV cache are not among them; clear it first
      to get all. */
  int num_tokens;
} RKLLMResultLastHiddenLayer;

/** Rows of logits, valid only inside the callback. */
typedef struct {
  /** num_tokens rows of vocab_size floats; NULL in other modes than RKLLM_INFER_GET_LOGITS. */
  const float* logits;
  /** Floats per row: the size of the model's vocabulary. */
  int vocab_size;
  /** Number of rows: with the first token of a run, the prompt tokens that were computed; later 1. */
  int num_tokens;
} RKLLMResultLogits;

/** How a run performed. Filled in with RKLLM_RUN_FINISH only. A run that failed leaves its counts to the next one. */
typedef struct {
  /** Time spent on the prompt, in milliseconds. */
  float prefill_time_ms;
  /** Prompt tokens computed. Tokens found in the KV cache are not counted, and a single token counts as generated. */
  int prefill_tokens;
  /** Time spent on generating, in milliseconds. */
  float generate_time_ms;
  /** Tokens generated, without the one that the prompt itself yields. */
  int generate_tokens;
  /** The most memory that the process has held so far, in MB. */
  float memory_usage_mb;
} RKLLMPerfStat;

/** What a result callback is given. With n_batch > 1, an array of n_batch of these. Dead when the callback returns. */
typedef struct {
  /** The text of the token, always whole UTF-8 characters; "" for a special token that is skipped. NULL while a
      character is unfinished, at the end of a run, for an entry that has ended, and for models without a tokenizer. */
  const char* text;
  /** The token; -1 for an entry of a batch that has ended or was empty. */
  int32_t token_id;
  /** The last hidden layer, in RKLLM_INFER_GET_LAST_HIDDEN_LAYER. */
  RKLLMResultLastHiddenLayer last_hidden_layer;
  /** The logits, in RKLLM_INFER_GET_LOGITS. */
  RKLLMResultLogits logits;
  /** Performance, at the end of the run; in a batch only in the first entry. */
  RKLLMPerfStat perf;
} RKLLMResult;

/**
 * Gives the embeddings of tokens, for models that hold none. Called on the thread of the run, for the prompt and then
 * for each generated token.
 *
 * @param userdata RKLLMCallback.embed_userdata.
 * @param tokens the token ids.
 * @param num_tokens how many.
 * @param embed where to write num_tokens vectors of floats.
 * @param len room at embed, in bytes.
 * @return 0; anything else makes the run fail.
 */
typedef int (*LLMGetEmbedCallback)(void* userdata, int32_t* tokens, uint64_t num_tokens, void* embed, uint64_t len);

/**
 * Turns text into tokens, for models that hold no tokenizer. Called on the thread of the run.
 *
 * @param userdata RKLLMCallback.tokenizer_userdata.
 * @param text the text, not necessarily followed by NUL.
 * @param text_len its length in bytes.
 * @param tokens where to write the ids.
 * @param n_tokens_max room at tokens, in ids.
 * @return the number of ids written; or, negated, how many there are if they do not fit: the runtime then asks again
 *         with exactly that room and aborts the process if the second answer differs.
 */
typedef int (*LLMTokenizerCallback)(void* userdata, const char* text, int32_t text_len, int32_t* tokens,
                                    int32_t n_tokens_max);

/**
 * Receives what a run yields: one call for each token, then one with RKLLM_RUN_FINISH. From rkllm_run it comes on the
 * calling thread, from rkllm_run_async on a thread of the runtime. It may call rkllm_abort and rkllm_is_running,
 * nothing else.
 *
 * @param result what was generated (n_batch entries); NULL with RKLLM_RUN_ERROR.
 * @param userdata the userdata of the run, or RKLLMCallback.result_userdata if that was NULL.
 * @param state what this call is about.
 * @return 0 goes on; 1 pauses: the run ends without RKLLM_RUN_FINISH, keeps its KV cache, and the next run continues
 * it; 2 frees the rows of this result at once and goes on.
 */
typedef int (*LLMResultCallback)(RKLLMResult* result, void* userdata, LLMCallState state);

/** The callbacks of a handle, given to rkllm_init. Copied there. */
typedef struct {
  /** Receives what runs yield; NULL: nobody does. */
  LLMResultCallback result_callback;
  /** Given to result_callback by runs whose own userdata is NULL. */
  void* result_userdata;
  /** Only for models without a tokenizer, which need it; else NULL. */
  LLMTokenizerCallback tokenizer_callback;
  /** Given to tokenizer_callback. */
  void* tokenizer_userdata;
  /** Only for models without embeddings, which need it; else NULL. */
  LLMGetEmbedCallback embed_callback;
  /** Given to embed_callback. */
  void* embed_userdata;
} RKLLMCallback;

/**
 * Gives the default parameters, with no model path.
 *
 * @return the defaults; enabled_cpus_mask is defined only on machines with 4 or 8 CPU cores online.
 */
RKLLMParam rkllm_createDefaultParam(void);

/**
 * Loads a model and makes a handle of it. Takes seconds, and most of the memory of the board.
 *
 * Fails if there is no NPU, the file is missing or built for another platform or for a smaller context, or if the CPU
 * mask and count disagree. If the memory of the NPU is exhausted, runtime 1.3.0 crashes instead of failing.
 *
 * @param handle receives the handle; left as it was on failure.
 * @param param the parameters; copied. NULL crashes the runtime.
 * @param callback the callbacks; copied. NULL: runs are silent.
 * @return 0 on success, else -1.
 */
int rkllm_init(LLMHandle* handle, RKLLMParam* param, RKLLMCallback* callback);

/**
 * Loads a LoRA adapter, to be chosen by name in a run. There is no unloading.
 *
 * Trap: an adapter that does not fit the model is logged as an error and yet returns 0; a run with it then aborts the
 * process.
 *
 * @param handle the model.
 * @param lora_adapter the adapter; copied.
 * @return 0 on success; -1 if the file is missing or the name is taken.
 */
int rkllm_load_lora(LLMHandle handle, RKLLMLoraAdapter* lora_adapter);

/**
 * Loads a prompt cache that a run has saved. Later runs with keep_history 0 whose prompts begin like the saved one skip
 * that part.
 *
 * @param handle the model; must be the one that saved it.
 * @param prompt_cache_path the file. NULL aborts the process.
 * @return 0 on success; -1 if the file is missing or empty; 1 if it is no prompt cache.
 */
int rkllm_load_prompt_cache(LLMHandle handle, const char* prompt_cache_path);

/**
 * Lets go of the loaded prompt cache; the next run starts cold.
 *
 * @param handle the model.
 * @return 0, also when none was loaded.
 */
int rkllm_release_prompt_cache(LLMHandle handle);

/**
 * Ends a handle and frees its memory. Crashes if a run is still going on, and if the handle has been destroyed before.
 *
 * @param handle the model.
 * @return 0 on success, else -1.
 */
int rkllm_destroy(LLMHandle handle);

/**
 * Runs the model on an input and returns when the run has ended. The result callback is called on this thread.
 *
 * The return value decides how the run ended: most failures (a prompt longer than the context, say) never call back.
 *
 * @param handle the model.
 * @param rkllm_input the input; n_batch of them. NULL crashes the runtime.
 * @param rkllm_infer_params the parameters of the run. NULL crashes the runtime.
 * @param userdata given to the result callback; NULL: RKLLMCallback.result_userdata.
 * @return 0 when the run has ended or was stopped, else -1.
 */
int rkllm_run(LLMHandle handle, RKLLMInput* rkllm_input, RKLLMInferParam* rkllm_infer_params, void* userdata);

/**
 * Starts a run and returns at once. The result callback is called on a thread of the runtime. Runs queue.
 *
 * Needs RKLLMParam.is_async to have been true in rkllm_init: without it, 0 is returned and nothing ever happens.
 *
 * @param handle the model.
 * @param rkllm_input the input; n_batch of them; copied.
 * @param rkllm_infer_params the parameters of the run; copied.
 * @param userdata given to the result callback; NULL: RKLLMCallback.result_userdata.
 * @return 0 when the run was queued, else -1.
 */
int rkllm_run_async(LLMHandle handle, RKLLMInput* rkllm_input, RKLLMInferParam* rkllm_infer_params, void* userdata);

/**
 * Stops what runs on a handle. The run ends as if it had finished: one more token may come, then RKLLM_RUN_FINISH.
 * Computing the prompt is not interrupted. May be called at any time, from any thread, and inside the result callback.
 *
 * @param handle the model.
 * @return 0, also when nothing runs; -1 for NULL.
 */
int rkllm_abort(LLMHandle handle);

/**
 * Tells whether a run goes on. May be called at any time, from any thread.
 *
 * @param handle the model.
 * @return 1 while a run goes on or waits, 0 when idle, -1 for NULL. (Headers up to 1.2.3 say the opposite.)
 */
int rkllm_is_running(LLMHandle handle);

/**
 * Empties the KV cache, or takes a range out of it. Must not be called during a run.
 *
 * A range can be taken out only while a run with keep_history 0 is paused (its callback returned 1), and then needs
 * 0 <= start < end <= size for every entry of the batch.
 *
 * @param handle the model.
 * @param keep_system_prompt 1 keeps the tokens of the system prompt, if it was set by rkllm_set_chat_template or
 *        rkllm_set_function_tools; 0 keeps nothing. Ignored when a range is given.
 * @param start_pos first position to take out, n_batch values; NULL: everything.
 * @param end_pos position after the last one to take out, n_batch values; NULL: everything.
 * @return 0 on success, else -1.
 */
int rkllm_clear_kv_cache(LLMHandle handle, int keep_system_prompt, int* start_pos, int* end_pos);

/**
 * Tells how many tokens the KV cache holds: the prompt, and what was generated but for the last token.
 *
 * @param handle the model.
 * @param cache_sizes receives n_batch values. NULL crashes the runtime.
 * @return 0 on success, else -1.
 */
int rkllm_get_kv_cache_size(LLMHandle handle, int* cache_sizes);

/**
 * Replaces the model's chat template: the model then reads system_prompt (in the first turn), prompt_prefix, the
 * prompt, prompt_postfix. Empties the KV cache. From then on enable_thinking and tools have no effect.
 *
 * @param handle the model.
 * @param system_prompt text before the first turn; may be "". NULL crashes the runtime.
 * @param prompt_prefix text before each prompt; may be "". NULL crashes the runtime.
 * @param prompt_postfix text after each prompt; may be "". NULL crashes the runtime.
 * @return 0 on success, else -1.
 */
int rkllm_set_chat_template(LLMHandle handle, const char* system_prompt, const char* prompt_prefix,
                            const char* prompt_postfix);

/**
 * Tells the model which tools it may call. The model then writes its calls as text; the runtime does not parse them.
 * Results go back in a run with role "tool". Empties the KV cache. Needs a model whose chat template knows tools.
 *
 * @param handle the model.
 * @param system_prompt the system message; may be "". NULL aborts the process.
 * @param tools JSON: an array of tools in OpenAI's form, {"type":"function","function":{"name","description",
 *        "parameters"}}, or one such object. NULL aborts the process.
 * @param tool_response_str name of the tag that each tool result is wrapped in, e.g. "tool_response"; not "". NULL
 *        aborts the process.
 * @return 0 on success; -1 if tools is no JSON, tool_response_str is "", or the model has no chat template.
 */
int rkllm_set_function_tools(LLMHandle handle, const char* system_prompt, const char* tools,
                             const char* tool_response_str);

/**
 * Sets what the decoder attends to, for models with cross attention. Needs use_cross_attn 1 in rkllm_init.
 *
 * @param handle the model.
 * @param cross_attn_params keys, values, mask and positions.
 * @return 0 on success; -1 for NULL, for a NULL pointer inside, or if the model has no cross attention.
 */
int rkllm_set_cross_attn_params(LLMHandle handle, RKLLMCrossAttnParam* cross_attn_params);

#ifdef __cplusplus
}
#endif

#endif  // _RKLLM_H_
