#include "answers/tool_call.hpp"

#include "engine/sim_json.hpp"

namespace rkllm_mcp::sim {
namespace {

Json member(const Json& value, const char* name) { return value.is_object() ? value.value(name, Json()) : Json(); }

std::string_view last_word(std::string_view text) {
  constexpr std::string_view kNotWords = " \t\r\n.,;:!?\"'()";
  const auto end = text.find_last_not_of(kNotWords);
  if (end == std::string_view::npos) return "";
  text = text.substr(0, end + 1);
  const auto before = text.find_last_of(kNotWords);
  return before == std::string_view::npos ? text : text.substr(before + 1);
}

Json argument(const Json& schema, std::string_view prompt) {
  if (const Json choices = member(schema, "enum"); choices.is_array() && !choices.empty()) return choices[0];
  const Json type = member(schema, "type");
  if (type == "integer" || type == "number") return 1;
  if (type == "boolean") return true;
  if (type == "array") return Json::array();
  if (type == "object") return Json::object();
  return std::string(last_word(prompt));
}

}  // namespace

std::optional<std::string> write_tool_call(const Json& tools, std::string_view prompt) {
  for (const Json& tool : tools) {
    const Json function = member(tool, "function");
    const Json name = member(function, "name");
    if (!name.is_string() || prompt.find(name.get<std::string>()) == std::string_view::npos) continue;
    Json arguments = Json::object();
    const Json properties = member(member(function, "parameters"), "properties");
    for (const auto& [key, schema] : properties.items()) {
      arguments[key] = argument(schema, prompt);
    }
    const Json call{{"name", name}, {"arguments", arguments}};
    return "<tool_call>\n" + call.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n</tool_call>";
  }
  return std::nullopt;
}

}  // namespace rkllm_mcp::sim
