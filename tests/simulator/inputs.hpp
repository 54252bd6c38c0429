// The inputs and parameters of runs.
#pragma once

#include "generator/headers/rkllm_1.3.0.h"

#include <cstddef>
#include <vector>

namespace simulated {

inline RKLLMInput prompt(const char* text, const char* role = "user") {
  RKLLMInput input{};
  input.role = role;
  input.input_type = RKLLM_INPUT_PROMPT;
  input.prompt_input = text;
  return input;
}

inline RKLLMInput tokens(std::vector<int>& ids) {
  RKLLMInput input{};
  input.input_type = RKLLM_INPUT_TOKEN;
  input.token_input = {ids.data(), ids.size()};
  return input;
}

// One row of `width` floats for each of `count` positions.
inline std::vector<float> rows(std::size_t count, std::size_t width, float first = 0) {
  std::vector<float> values(count * width);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<float>(i);
  return values;
}

inline constexpr std::size_t kEmbedding = 64;  // of fast.json

inline RKLLMInput embeds(std::vector<float>& values) {
  RKLLMInput input{};
  input.input_type = RKLLM_INPUT_EMBED;
  input.embed_input = {values.data(), values.size() / kEmbedding};
  return input;
}

// Input with one or more images, of one row after the other.
struct Picture {
  Picture(std::size_t count, std::size_t tokens_each) : values(rows(count * tokens_each, kEmbedding)) {
    input.input_type = RKLLM_INPUT_MULTIMODAL;
    input.multimodal_input.prompt = prompt;
    auto& image = input.multimodal_input.image;
    image.image_embed = values.data();
    image.n_image = count;
    image.n_image_tokens = tokens_each;
    image.image_start = "";
    image.image_end = "";
    image.image_content = "<|image_pad|>";
  }
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;

  char prompt[64] = "What is in <image>?";
  std::vector<float> values;
  RKLLMInput input{};
};

// `count` different tokens without meaning, from id `first` on.
inline std::vector<int> ids(std::size_t count, int first = 300) {
  std::vector<int> list(count);
  for (std::size_t i = 0; i < count; ++i) list[i] = first + static_cast<int>(i % 1000);
  return list;
}

inline RKLLMInferParam infer(int max_new_tokens, int keep_history = 0, RKLLMInferMode mode = RKLLM_INFER_GENERATE) {
  RKLLMInferParam param{};
  param.mode = mode;
  param.max_new_tokens = max_new_tokens;
  param.keep_history = keep_history;
  return param;
}

}  // namespace simulated
