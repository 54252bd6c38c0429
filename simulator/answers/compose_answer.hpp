// What a simulated model answers: an opening that says it is simulated and quotes the prompt, what it remembers of the
// conversation, then passages; a pure function of its arguments.
#pragma once

#include "answers/answer_tokens.hpp"
#include "answers/directives.hpp"
#include "model/chat_template.hpp"
#include "model/kv_cache.hpp"
#include "model/model_file.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace rkllm_mcp::sim {

struct Question {
  std::string_view prompt;        // what the caller wrote, without template
  std::span<const Turn> earlier;  // turns still in the cache, oldest first, without this one
  Directives directives;
  std::size_t asked_before = 0;  // how often the directives' line has been answered already
  std::uint64_t seed = 0;        // made of the context, the sampling values and the adapter
  bool thinks = false;           // begins with a <think> block
  bool from_tool = false;        // the prompt is a list of tool results
  bool eos_is_sampled = true;    // false: ignore_eos_token
};

AnswerTokens compose_answer(const Question& question, const ModelFile& model, const Json& tools);

}  // namespace rkllm_mcp::sim
