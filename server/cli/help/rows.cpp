#include "cli/help/rows.hpp"

#include "cli/help/terminal.hpp"

#include <algorithm>

namespace rkllm_mcp {

std::string rows_text(const std::string& title, const std::vector<HelpRow>& rows, std::size_t width,
                      std::size_t widest_name) {
  constexpr std::size_t kNarrow = 60;
  if (rows.empty()) return {};
  std::size_t widest = 0;
  for (const HelpRow& row : rows) {
    if (row.name.size() <= widest_name) widest = std::max(widest, row.name.size());
  }
  const std::size_t column = width < kNarrow ? 6 : widest + 4;
  std::string text = title + ":\n";
  for (const HelpRow& row : rows) {
    const std::size_t end = row.name.size() + 2;
    text += "  " + row.name + (end + 2 > column ? "\n" + std::string(column, ' ') : std::string(column - end, ' ')) +
            wrapped(row.text, width, column) + "\n";
  }
  return text;
}

}  // namespace rkllm_mcp
