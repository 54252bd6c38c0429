// How a prompt becomes the text that is tokenised: the model's own template (ChatML), the one of
// rkllm_set_chat_template, or none; with the tools of rkllm_set_function_tools.
//
// Not thread-safe: belongs to whoever uses the handle.
#pragma once

#include "engine/sim_json.hpp"
#include "model/model_file.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp::sim {

// A rendered turn. `system` is the part that clear_kv_cache can keep.
struct RenderedTurn {
  std::string system;
  std::string rest;
};

class ChatTemplate {
 public:
  explicit ChatTemplate(const ModelFile& model)
      : built_in_(model.chat_template == Template::kChatMl),
        is_usable_(model.chat_template != Template::kUnparseable),
        thinks_(model.thinking),
        default_system_(model.default_system) {}

  // rkllm_set_chat_template: text becomes system + prefix + prompt + postfix. Ends templates, thinking and tools.
  void replace(std::string system, std::string prefix, std::string postfix);

  // rkllm_set_function_tools. False if it is refused: no JSON, empty text, no template that could hold tools.
  bool set_tools(std::string system, std::string_view tools, std::string tag);

  // `first`: nothing of the conversation is in the cache yet, so the system part belongs in front.
  RenderedTurn render(std::string_view prompt, bool enable_thinking, bool first) const;

  // The user turn that holds tool results: each element of a JSON array in the tag. Absent if `results` is none.
  std::optional<std::string> tool_results(std::string_view results) const;

  // Whether the answer to this prompt begins by thinking.
  bool thinks(bool enable_thinking, std::string_view rendered) const;
  // The tools that a model sees; an empty array if there are none.
  const Json& tools() const { return tools_; }
  // False while the model's own template cannot be used and has not been replaced.
  bool is_usable() const { return is_usable_ || replaced_; }

 private:
  bool built_in_;
  bool is_usable_;
  bool replaced_ = false;
  bool thinks_;
  std::string default_system_;
  std::string system_;
  std::string prefix_;
  std::string postfix_;
  Json tools_ = Json::array();
  std::string tag_ = "tool_response";
};

}  // namespace rkllm_mcp::sim
