// Names for what the host makes: tool calls, replies. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace rkllm_mcp::chat {

// `prefix` and 24 hexadecimal digits that nobody can guess.
std::string new_id(std::string_view prefix);

}  // namespace rkllm_mcp::chat
