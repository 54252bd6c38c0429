// The template files of this folder, compiled in.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::chat {

// Name of the family and JSON text, for each file.
std::vector<std::pair<std::string_view, std::string_view>> template_files();

}  // namespace rkllm_mcp::chat
