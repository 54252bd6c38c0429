#include "cli/help/terminal.hpp"

#include "text/shown.hpp"
#include "text/utf8.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace rkllm_mcp {

std::size_t columns_of(int descriptor) {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  if (::isatty(descriptor) != 1 || ::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsual;
  return std::clamp<std::size_t>(size.ws_col, 30, 100);
}

bool wants_colours(int descriptor) {
  if (::isatty(descriptor) != 1) return false;
  const char* const refused = std::getenv("NO_COLOR");
  if (refused != nullptr && *refused != '\0') return false;
  const char* const kind = std::getenv("TERM");
  return kind == nullptr || std::string_view(kind) != "dumb";
}

std::string without_control_characters(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (const char each : text) {
    // Looked for in what is shown, where one may have come together.
    const std::size_t control = control_character_bytes(shown, each);
    if (control == 2) shown.pop_back();
    if (control == 0 || each == '\n' || each == '\t') shown += each;
  }
  return shown;
}

std::string Paint::in(std::string_view code, std::string_view text) const {
  if (!on_ || text.empty()) return std::string(text);
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string lines;
  std::size_t column = indent;  // the first line stands behind something of this width
  bool at_start = true;
  while (!text.empty()) {
    if (text.front() == '\n') {
      text.remove_prefix(1);
      lines += "\n" + std::string(text.starts_with('\n') ? 0 : indent, ' ');
      column = indent;
      at_start = true;
      continue;
    }
    if (text.front() == ' ') {
      text.remove_prefix(1);
      continue;
    }
    const std::string_view word = text.substr(0, text.find_first_of(" \n"));
    text.remove_prefix(word.size());
    if (!at_start && column + 1 + characters_in(word) > width) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
      at_start = true;
    }
    if (!at_start) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += characters_in(word);
    at_start = false;
  }
  return lines;
}

std::string wrapped_lines(std::string_view text, std::size_t width) {
  std::string lines;
  for (;;) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    lines += std::string(begin, ' ') + wrapped(line.substr(begin), width, begin == 0 ? 0 : begin + 2);
    if (line.size() == text.size()) return lines;
    lines += '\n';
    text.remove_prefix(line.size() + 1);
  }
}

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

// What a model or a page has said may be no UTF-8.
void print_json(const Json& document) {
  std::printf("%s\n", document.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

void print_json_line(const Json& line) {
  std::printf("%s\n", line.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
  std::fflush(stdout);
}

}  // namespace rkllm_mcp
