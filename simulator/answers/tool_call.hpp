// The tool call that a simulated model writes when it has tools and the prompt names one of them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp::sim {

// The text of the call, in <tool_call> tags, or nothing if the prompt names none of the tools. `tools` is a list as
// OpenAI writes it; entries that are not are passed over. The arguments fit the types that the tool asks for: strings
// are the prompt's last word.
std::optional<std::string> write_tool_call(const nlohmann::ordered_json& tools, std::string_view prompt);

}  // namespace rkllm_mcp::sim
