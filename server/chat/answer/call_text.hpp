// The calls in what a model has written between its markers.
#pragma once

#include "chat/templates/family.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

struct WrittenCall {
  std::string name;
  std::string arguments;  // JSON text of an object, in one line

  bool operator==(const WrittenCall&) const = default;
};

// At least one call; nothing if the text is not exactly what the family's syntax asks for. Arguments that are an object
// inside a string are understood as well, since models mix the two up; absent ones are {}.
std::optional<std::vector<WrittenCall>> read_calls(const ToolForm& form, std::string_view text);

}  // namespace rkllm_mcp::chat
