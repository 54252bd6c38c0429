// What is known of the terminal that a text is printed for, and texts as they are to stand there.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

// Columns to write in: the terminal's, 30 to 100 of them; 80 where `descriptor` is no terminal.
std::size_t columns_of(int descriptor);

// Whether colours are wanted on `descriptor`: it is a terminal, NO_COLOR is unset or empty, and TERM is not "dumb".
bool wants_colours(int descriptor);

// Text from elsewhere, a server or a web page, which must not tell the terminal what to do. Ends of lines and tabs
// stay.
std::string without_control_characters(std::string_view text);

// Puts text into the colours of a terminal, or leaves it as it is.
class Paint {
 public:
  explicit Paint(int descriptor) : on_(wants_colours(descriptor)) {}

  std::string bold(std::string_view text) const { return in("1", text); }
  std::string dim(std::string_view text) const { return in("2", text); }
  std::string red(std::string_view text) const { return in("31", text); }
  std::string green(std::string_view text) const { return in("32", text); }
  std::string yellow(std::string_view text) const { return in("33", text); }

 private:
  std::string in(std::string_view code, std::string_view text) const;

  bool on_;
};

// Text in lines of at most `width` characters, broken at spaces; each line after the first begins with `indent` spaces.
// What is longer than a line stands on one of its own.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

// Wraps each line of `text` by itself. A line that begins with spaces keeps them, and goes on two columns behind them.
std::string wrapped_lines(std::string_view text, std::size_t width);

// Names, and beside or below each what it is: how help, the guide and the chat list what there is.
struct HelpRow {
  std::string name;
  std::string text;
};

// A heading and the rows, in lines of at most `width` columns where that can be. A name of more than `widest_name`
// stands on a line of its own, and so do all in a narrow terminal. Empty if there are no rows.
std::string rows_text(const std::string& title, const std::vector<HelpRow>& rows, std::size_t width,
                      std::size_t widest_name = 24);

// What --json prints, on standard output: a document for programs, or one line of several.
void print_json(const Json& document);
void print_json_line(const Json& line);

}  // namespace rkllm_mcp
