// C++ source text in its final formatting: 120 columns, two blanks of indentation, as clang-format would leave it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bindgen {

inline constexpr std::size_t kColumns = 120;

// A call or an initializer as a tree, so that it can be broken where it does not fit: "f(", arguments, ")".
struct Expression {
  std::string head;  // all of it if there are no brackets
  std::vector<Expression> arguments;
  char open = 0;  // '(', '{' or '<'; 0: no brackets

  Expression(std::string text) : head(std::move(text)) {}
  Expression(const char* text) : head(text) {}
  Expression(std::string callee, std::vector<Expression> args, char bracket = '(')
      : head(std::move(callee)), arguments(std::move(args)), open(bracket) {}
};

class CodeText {
 public:
  void line(std::string_view text = {});
  // A statement made of an expression; `tail` is what follows, such as ";".
  void statement(const Expression& expression, std::string_view tail = ";");
  // Wrapped to the width; paragraphs are separated by "\n\n". Nothing for an empty text.
  void comment(std::string_view text);
  // Documentation behind the name of what it is about; nothing without documentation.
  void comment_on(std::string_view name, std::string_view documentation);
  // A string constant made of adjacent literals, one per line.
  void string_constant(const std::string& name, const std::vector<std::string>& literals);
  // Lines that are in their final formatting.
  void append(const std::string& lines) { text_ += lines; }
  void indent() { depth_ += 2; }
  void outdent() { depth_ -= 2; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::size_t depth_ = 0;
};

// A C++ string literal.
std::string literal(std::string_view text);
// The same as it stands, quotes and backslashes included: R"(...)".
std::string raw_literal(std::string_view text);
// `text` cut at blanks into string literals of at most the width left by `indentation`.
std::vector<std::string> literal_lines(std::string_view text, std::size_t indentation);
// "n_batch" as "kNBatch".
std::string constant_name(std::string_view name);
// A floating-point literal of type float: "0.9F".
std::string float_literal(double value);
// One of type double: "0.9".
std::string double_literal(double value);
// A number as C++ and JSON both write it, the shortest way.
std::string number_text(double value);
// An integer as a C++ expression; the smallest one is written as a difference, since no literal can stand for it.
std::string integer_text(std::int64_t value);

}  // namespace bindgen
