#include "tools/html/markdown_writer.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>

namespace rkllm_mcp {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

}  // namespace

void MarkdownWriter::words(std::string_view text) {
  for (const char c : text) {
    if (is_blank(c)) {
      wanted_space_ = true;
      continue;
    }
    prepare();
    if (escapes_brackets_ && (c == '[' || c == ']')) add("\\");
    add({&c, 1});
  }
}

void MarkdownWriter::verbatim(std::string_view text) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (end > 0) {
      prepare();
      add(text.substr(0, end));
    }
    if (end == text.size()) return;
    prepare();
    begin_line();
    text.remove_prefix(end + 1);
  }
}

void MarkdownWriter::mark(std::string_view sign) {
  prepare();
  add(sign);
}

void MarkdownWriter::mark_later(std::string sign) { later_ = std::move(sign); }

void MarkdownWriter::close(std::string_view sign) { add(sign); }

void MarkdownWriter::new_block() {
  break_depth_ = wanted_breaks_ == 0 ? prefixes_.size() : std::min(break_depth_, prefixes_.size());
  wanted_breaks_ = kBlock;
  later_.clear();
}

void MarkdownWriter::new_line() {
  if (wanted_breaks_ == 0) break_depth_ = prefixes_.size();
  wanted_breaks_ = std::max(wanted_breaks_, 1);
}

void MarkdownWriter::push_prefix(std::string_view prefix, std::string_view first) {
  prefixes_.push_back({std::string(prefix), std::string(first)});
}

void MarkdownWriter::pop_prefix() {
  prefixes_.pop_back();
  break_depth_ = std::min(break_depth_, prefixes_.size());
}

void MarkdownWriter::add(std::string_view text) {
  if (text.size() > most_bytes_ - text_.size()) throw std::length_error("the text gets too long");
  text_ += text;
}

void MarkdownWriter::begin_line() {
  while (text_.ends_with(' ')) text_.pop_back();
  add("\n");
  at_line_start_ = true;
}

void MarkdownWriter::prepare() {
  const int breaks = std::exchange(wanted_breaks_, 0);
  if (breaks > 0 && !text_.empty()) {
    if (!at_line_start_) begin_line();
    if (breaks == kBlock) {
      // Quotes go on through the empty line between their paragraphs.
      for (std::size_t i = 0; i < break_depth_; ++i) add(prefixes_[i].text);
      begin_line();
    }
  }
  if (at_line_start_) {
    for (Prefix& prefix : prefixes_) add(prefix.first.empty() ? prefix.text : std::exchange(prefix.first, {}));
    at_line_start_ = false;
    wanted_space_ = false;
  }
  if (std::exchange(wanted_space_, false) && !text_.ends_with(' ') && !text_.ends_with('[')) add(" ");
  add(std::exchange(later_, {}));
}

}  // namespace rkllm_mcp
