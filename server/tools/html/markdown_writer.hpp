// Puts Markdown together from the events of a walk through a page: words, breaks, and blocks within blocks.
//
// A short page can make a long text, since each line repeats the prefixes of all blocks around it. So there is a bound:
// what would make the text longer throws std::length_error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

class MarkdownWriter {
 public:
  explicit MarkdownWriter(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // Words of running text: runs of white space are one space.
  void words(std::string_view text);
  void verbatim(std::string_view text);  // as it is, inside a block of code
  void mark(std::string_view sign);      // of Markdown itself, in running text
  void mark_later(std::string sign);     // a sign that is written only once words follow it in its block
  void close(std::string_view sign);     // a sign right behind the last character
  void space() { wanted_space_ = true; }
  // Whether brackets in words are escaped, as they must be in the text of a link. (A property and no argument, since
  // the words of a link come in many pieces.)
  void escape_brackets(bool escape) { escapes_brackets_ = escape; }
  // What follows begins a new block, behind an empty line, or a new line only.
  void new_block();
  void new_line();
  // Every line from here on begins with `prefix` ("> ", "  "), behind the prefixes that were pushed before it. `first`,
  // which is as long ("- "), takes its place on the next line that is written.
  void push_prefix(std::string_view prefix, std::string_view first = {});
  void pop_prefix();

  const std::string& text() const { return text_; }
  std::size_t size() const { return text_.size(); }
  // Takes back what was written since the text was so long, which must be in this line.
  void cut(std::size_t from) { text_.resize(from); }

 private:
  static constexpr int kBlock = 2;

  struct Prefix {
    std::string text;
    std::string first;  // empty: written already
  };

  void add(std::string_view text);
  void begin_line();
  void prepare();  // for the next character: breaks, prefixes, a space

  const std::size_t most_bytes_;
  std::string text_;
  std::vector<Prefix> prefixes_;
  int wanted_breaks_ = 0;        // 1: a new line, 2: an empty line, before the next character
  std::size_t break_depth_ = 0;  // prefixes of the empty line
  bool wanted_space_ = false;
  bool at_line_start_ = true;
  bool escapes_brackets_ = false;
  std::string later_;  // a sign that waits for words
};

}  // namespace rkllm_mcp
