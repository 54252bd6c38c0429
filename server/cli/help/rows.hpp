// Names, and beside or below each what it is: how help, the guide and the chat list what there is.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace rkllm_mcp {

struct HelpRow {
  std::string name;
  std::string text;
};

// A heading and the rows, in lines of at most `width` columns where that can be. A name of more than `widest_name`
// stands on a line of its own, and so do all in a narrow terminal. Empty if there are no rows.
std::string rows_text(const std::string& title, const std::vector<HelpRow>& rows, std::size_t width,
                      std::size_t widest_name = 24);

}  // namespace rkllm_mcp
