// One run as plain values: what rkllm_run was given, copied out of the C structs of whatever ABI, so that nothing of
// the caller's memory is needed once the call that brought it has returned.
#pragma once

#include "model/vocabulary.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace rkllm_mcp::sim {

enum class Mode { kGenerate, kLastHiddenLayer, kLogits };

struct Sampling {
  std::int32_t top_k = 0;
  float top_p = 0;
  float temperature = 0;
  float repeat_penalty = 0;
  float frequency_penalty = 0;
  float presence_penalty = 0;
  std::int32_t mirostat = 0;
  float mirostat_tau = 0;
  float mirostat_eta = 0;
};

// A NULL pointer where data belongs, or multimodal input that lacks required parts: the run answers with nothing.
struct EmptyInput {};
// An input_type that no enumerator has.
struct UnknownInput {};
struct PromptInput {
  std::string text;
};
struct TokenInput {
  std::vector<TokenId> ids;
};
struct EmbedInput {
  std::size_t n_tokens = 0;   // as the caller said, which may be more than is sane
  std::vector<float> values;  // n_tokens rows; empty if n_tokens is out of range
};
// What stands in the text for an image or video: start, content for each row, end. Absent: NULL, which a run refuses.
struct MediaTexts {
  std::optional<std::string> start;
  std::optional<std::string> end;
  std::optional<std::string> content;
};
// The images, or the videos, of a multimodal prompt.
struct MediaInput {
  std::size_t count = 0;        // of images or videos
  std::size_t tokens_each = 0;  // positions of one image or video
  std::vector<float> values;    // count * tokens_each rows
  MediaTexts texts;
};
struct MultimodalInput {
  std::string text;
  MediaInput images;
  MediaInput videos;
  std::size_t image_width = 0;  // pixels
  std::size_t image_height = 0;
};

using InputContent = std::variant<EmptyInput, UnknownInput, PromptInput, TokenInput, EmbedInput, MultimodalInput>;

struct Input {
  InputContent content;
  bool from_tool = false;  // role "tool"; every other role counts as the user
  bool enable_thinking = false;
};

struct RunRequest {
  std::vector<Input> inputs;  // one for each entry of the batch
  Mode mode = Mode::kGenerate;
  std::optional<std::string> lora;               // adapter to use
  std::optional<std::string> save_prompt_cache;  // file to write
  std::optional<Sampling> sampling;              // instead of the handle's, all nine values
  bool keep_history = false;
  std::int32_t max_new_tokens = 0;  // <= 0: the handle's
  void* userdata = nullptr;         // for the result callback; the caller's fallback is already applied
};

}  // namespace rkllm_mcp::sim
