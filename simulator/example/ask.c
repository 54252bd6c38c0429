/* The smallest useful RKLLM program: one prompt, the answer on stdout. It runs on a PC with the simulator, and unchanged on
   a board with a real model: only the library that it is linked to differs. Exit code 0 if the run ended with
   RKLLM_RUN_FINISH.

     cc ask.c $(pkg-config --cflags --libs rkllm_sim) -o ask      on a PC
     cc ask.c -I. -lrkllmrt -o ask                                on a board, with the same rkllm.h beside it */
#include "rkllm.h"

#include <stdio.h>
#include <string.h>

static int on_result(RKLLMResult* result, void* userdata, LLMCallState state) {
  if (state == RKLLM_RUN_NORMAL && result->text != NULL) fputs(result->text, stdout);
  if (state == RKLLM_RUN_FINISH) *(int*)userdata = 1;
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s MODEL PROMPT\n", argv[0]);
    return 2;
  }
  RKLLMParam param = rkllm_createDefaultParam();
  param.model_path = argv[1];
  param.extend_param.enabled_cpus_num = 4;
  param.extend_param.enabled_cpus_mask = CPU0 | CPU1 | CPU2 | CPU3;

  RKLLMCallback callback;
  memset(&callback, 0, sizeof callback);
  callback.result_callback = on_result;

  LLMHandle handle = NULL;
  if (rkllm_init(&handle, &param, &callback) != 0) return 1;

  RKLLMInput input;
  memset(&input, 0, sizeof input);
  input.role = "user";
  input.input_type = RKLLM_INPUT_PROMPT;
  input.prompt_input = argv[2];

  RKLLMInferParam infer;
  memset(&infer, 0, sizeof infer);
  infer.mode = RKLLM_INFER_GENERATE;

  int finished = 0;
  const int status = rkllm_run(handle, &input, &infer, &finished);
  putchar('\n');
  rkllm_destroy(handle);
  return status == 0 && finished ? 0 : 1;
}
