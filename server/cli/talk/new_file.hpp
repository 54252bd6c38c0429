// A file that a person has named, and that was not there before.
#pragma once

#include <string>
#include <string_view>

namespace rkllm_mcp {

// Writes all of `text` to a new file, or leaves none. Throws std::runtime_error: what is there already (a file that
// another program has made just now, too) is not touched.
void write_new_file(const std::string& path, std::string_view text);

}  // namespace rkllm_mcp
