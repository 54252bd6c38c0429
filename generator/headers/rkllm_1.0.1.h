// The C interface of Rockchip's RKLLM runtime, version 1.0.1 (and 1.0.2 beta), stated by this project: the names,
// order, types and values are those of the published interface (see SOURCES.json); every word of documentation is our
// own, and modest: this runtime has not been measured. Compiles alone, as C11 and as C++.
//
// Words used throughout: a handle is one initialised model; a run is one inference; a token is an index into the
// model's vocabulary.

#ifndef _LLM_H_  // the guard of the published file, so that the two are never mixed in one program
#define _LLM_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An initialised model. Made by rkllm_init, ended by rkllm_destroy, opaque in between. */
typedef void* LLMHandle;

/** What a call of the result callback is about. */
typedef enum {
  /** Text was generated. */
  LLM_RUN_NORMAL = 0,
  /** The run has ended. */
  LLM_RUN_FINISH = 1,
  /** The run has failed. */
  LLM_RUN_ERROR = 2
} LLMCallState;

/** The parameters of a model, set once in rkllm_init. Start from rkllm_createDefaultParam. */
typedef struct {
  /** Path of the .rkllm file. */
  const char* model_path;
  /** How many cores of the NPU the model runs on. */
  int32_t num_npu_core;
  /** Size of the context window, in tokens. Must not exceed what the model was built for. */
  int32_t max_context_len;
  /** The most tokens that one run generates. */
  int32_t max_new_tokens;
  /** Sampling considers the k most probable tokens only; 1 is greedy. */
  int32_t top_k;
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
  /** True: the probabilities of tokens are reported. */
  bool logprobs;
  /** How many of the most probable tokens are reported. */
  int32_t top_logprobs;
  /** True: the GPU takes part in the computation. */
  bool use_gpu;
} RKLLMParam;

/** A token and how probable it was. */
typedef struct {
  /** Natural logarithm of the token's probability. */
  float logprob;
  /** The token. */
  int id;
} Token;

/** What a result callback is given. */
typedef struct {
  /** The text that was generated. */
  const char* text;
  /** num tokens, with their probabilities. */
  Token* tokens;
  /** Number of tokens. */
  int num;
} RKLLMResult;

/**
 * Receives what a run yields.
 *
 * @param result what was generated.
 * @param userdata the userdata of the run.
 * @param state what this call is about.
 */
typedef void (*LLMResultCallback)(RKLLMResult* result, void* userdata, LLMCallState state);

/**
 * Gives the default parameters, with no model path.
 *
 * @return the defaults.
 */
RKLLMParam rkllm_createDefaultParam(void);

/**
 * Loads a model and makes a handle of it. Takes seconds, and most of the memory of the board.
 *
 * @param handle receives the handle.
 * @param param the parameters, by value.
 * @param callback receives what runs yield.
 * @return 0 on success.
 */
int rkllm_init(LLMHandle* handle, RKLLMParam param, LLMResultCallback callback);

/**
 * Ends a handle and frees its memory. Must not be called during a run, nor twice.
 *
 * @param handle the model.
 * @return 0 on success.
 */
int rkllm_destroy(LLMHandle handle);

/**
 * Runs the model on a text and returns when the run has ended.
 *
 * @param handle the model.
 * @param prompt the text.
 * @param userdata given to the result callback.
 * @return 0 on success.
 */
int rkllm_run(LLMHandle handle, const char* prompt, void* userdata);

/**
 * Stops what runs on a handle.
 *
 * @param handle the model.
 * @return 0 on success; negative on failure, which includes that nothing runs.
 */
int rkllm_abort(LLMHandle handle);

#ifdef __cplusplus
}
#endif

#endif  // _LLM_H_
