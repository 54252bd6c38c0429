#include "emit/code_text.hpp"

#include "read/clean_text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <sstream>

namespace bindgen {
namespace {

char closing(const Expression& expression) {
  switch (expression.open) {
    case '(': return ')';
    case '<': return '>';
    default: return '}';
  }
}

std::string flat(const Expression& expression) {
  std::string text = expression.head;
  if (expression.open == 0) return text;
  text += expression.open;
  for (std::size_t i = 0; i < expression.arguments.size(); ++i) {
    if (i != 0) text += ", ";
    text += flat(expression.arguments[i]);
  }
  return text + closing(expression);
}

// Appends `expression` to `text`, whose current line is `column` long. `after` columns must stay free behind it.
void print(const Expression& expression, std::string& text, std::size_t& column, std::size_t after) {
  const std::string whole = flat(expression);
  if (column + whole.size() + after <= kColumns || expression.open == 0) {
    text += whole;
    column += whole.size();
    return;
  }
  text += expression.head + expression.open;
  column += expression.head.size() + 1;
  const std::size_t aligned = column;
  for (std::size_t i = 0; i < expression.arguments.size(); ++i) {
    const bool is_last = i + 1 == expression.arguments.size();
    const std::size_t behind = is_last ? after + 1 : 1;
    const bool fits_here = column + 1 + flat(expression.arguments[i]).size() + behind <= kColumns;
    if (i != 0 && fits_here) {
      text += ' ';
      ++column;
    } else if (i != 0) {
      text += '\n' + std::string(aligned, ' ');
      column = aligned;
    }
    print(expression.arguments[i], text, column, behind);
    if (!is_last) {
      text += ',';
      ++column;
    }
  }
  text += closing(expression);
  ++column;
}

}  // namespace

void CodeText::line(std::string_view text) {
  if (!text.empty()) text_ += std::string(depth_, ' ') + std::string(text);
  text_ += '\n';
}

void CodeText::statement(const Expression& expression, std::string_view tail) {
  text_ += std::string(depth_, ' ');
  std::size_t column = depth_;
  Expression rest = expression;
  if (column + flat(expression).size() + tail.size() > kColumns) {
    // The right side of an assignment, or the last call of a chain, goes to a line of its own where it fits there.
    const std::string& head = expression.head;
    const auto assignment = head.find(" = ");
    const auto chain = head.find(").");
    const std::size_t cut = chain != std::string::npos        ? chain + 1
                            : assignment != std::string::npos ? assignment + 3
                                                              : head.size();
    const std::size_t indentation = depth_ + 4;
    rest.head = head.substr(cut);
    const bool is_pointer_type = head.find("(*)") != std::string::npos;  // clang-format keeps these on one line
    if (cut != head.size() && !is_pointer_type && indentation + flat(rest).size() + tail.size() <= kColumns) {
      text_ += head.substr(0, head.find_last_not_of(' ', cut - 1) + 1) + '\n' + std::string(indentation, ' ');
      column = indentation;
    } else {
      rest = expression;
    }
  }
  print(rest, text_, column, tail.size());
  text_ += std::string(tail) + '\n';
}

void CodeText::comment_on(std::string_view name, std::string_view documentation) {
  if (!documentation.empty()) comment(std::string(name) + ": " + std::string(documentation));
}

void CodeText::string_constant(const std::string& name, const std::vector<std::string>& literals) {
  // clang-format puts the first literal behind "=" only if no line becomes too long by that.
  const std::string begin = "inline constexpr std::string_view " + name + " =";
  std::size_t longest = 0;
  for (const std::string& literal : literals) longest = std::max(longest, literal.size() + 1);
  const bool fits_behind = depth_ + begin.size() + 1 + longest <= kColumns;
  const std::string aligned(fits_behind ? begin.size() + 1 : 4, ' ');
  if (!fits_behind) line(begin);
  for (std::size_t i = 0; i < literals.size(); ++i) {
    const std::string indentation = i == 0 && fits_behind ? begin + " " : aligned;
    line(indentation + literals[i] + (i + 1 == literals.size() ? ";" : ""));
  }
}

void CodeText::comment(std::string_view text) {
  std::istringstream lines{std::string(text)};
  for (std::string paragraph; std::getline(lines, paragraph);) {
    std::string current = "//";
    const auto end_line = [&] {
      if (current.back() == '\\') current += '.';  // a comment that ends in \ would go on in the next line
      line(current);
    };
    std::istringstream words(paragraph);
    for (std::string word; words >> word;) {
      if (depth_ + current.size() + 1 + word.size() > kColumns) {
        end_line();
        current = "//";
      }
      current += " " + word;
    }
    end_line();
  }
}

std::string literal(std::string_view text) {
  std::string result = "\"";
  std::size_t hidden = 0;  // where the next character stands that nobody sees, as far as that is known
  bool is_hidden = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char character = text[i];
    const auto byte = static_cast<unsigned char>(character);
    if ((byte & 0xC0U) != 0x80) {  // it is the first byte of a character
      if (hidden <= i) hidden = i + std::min(first_unclean(text.substr(i)), text.size());
      is_hidden = hidden == i;
    }
    if (character == '"' || character == '\\') result += '\\';
    if (character == '\n') {
      result += "\\n";
    } else if (byte < 0x20 || is_hidden) {  // three octal digits: what follows cannot be taken for more of them
      result += {'\\', static_cast<char>('0' + byte / 64), static_cast<char>('0' + byte / 8 % 8),
                 static_cast<char>('0' + byte % 8)};
    } else {
      result += character;
    }
  }
  return result + '"';
}

std::string raw_literal(std::string_view text) {
  std::string mark;
  while (text.find(")" + mark + "\"") != std::string_view::npos) mark += mark.empty() ? "json" : "_";
  return "R\"" + mark + "(" + std::string(text) + ")" + mark + "\"";
}

std::vector<std::string> literal_lines(std::string_view text, std::size_t indentation) {
  constexpr std::size_t kAround = 3;  // the quotes, and what follows
  const std::size_t most = kColumns - std::min(kColumns - kAround, indentation + kAround);
  const auto fits = [&](std::size_t end) { return literal(text.substr(0, end)).size() + indentation + 1 <= kColumns; };
  std::vector<std::string> lines;
  while (!text.empty()) {
    std::size_t end = text.size();
    if (end > most || !fits(end)) {
      // Behind the last blank with which it fits, else behind the first one. A literal is no shorter than its text, so
      // what stands farther behind need not be tried.
      std::size_t blank = text.rfind(' ', std::min(most, end - 2));
      while (blank != std::string_view::npos && blank != 0 && !fits(blank + 1)) blank = text.rfind(' ', blank - 1);
      if (blank == std::string_view::npos || blank == 0) blank = text.find(' ', 1);
      end = blank == std::string_view::npos || blank + 1 >= end ? end : blank + 1;
    }
    lines.push_back(literal(text.substr(0, end)));
    text.remove_prefix(end);
  }
  if (lines.empty()) lines.emplace_back("\"\"");
  return lines;
}

std::string constant_name(std::string_view name) {
  std::string constant = "k";
  bool starts_word = true;
  for (const char character : name) {
    if (character == '_') {
      starts_word = true;
      continue;
    }
    constant += starts_word ? static_cast<char>(std::toupper(static_cast<unsigned char>(character))) : character;
    starts_word = false;
  }
  return constant;
}

std::string number_text(double value) {
  char text[64];
  const auto written = std::to_chars(text, text + sizeof text, value);
  return {text, written.ptr};
}

std::string integer_text(std::int64_t value) {
  return value == INT64_MIN ? std::to_string(value + 1) + " - 1" : std::to_string(value);
}

std::string double_literal(double value) {
  const std::string text = number_text(value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string float_literal(double value) { return double_literal(value) + "F"; }

}  // namespace bindgen
