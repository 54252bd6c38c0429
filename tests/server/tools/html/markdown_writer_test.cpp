#include "tools/html/markdown_writer.hpp"

#include "support/catch.hpp"

#include <stdexcept>

using rkllm_mcp::MarkdownWriter;

namespace {

constexpr std::size_t kRoom = 1000;

}  // namespace

TEST_CASE("runs of white space in words are one space, and none where the text begins or ends") {
  MarkdownWriter writer(kRoom);
  writer.words(" \t one \r\n\f two");
  writer.words("three ");
  CHECK(writer.text() == "one twothree");
  writer.words(" \xC3\xA9");
  CHECK(writer.text() == "one twothree \xC3\xA9");
  CHECK(writer.size() == 15);
}

TEST_CASE("a space that is wanted is written once something follows, and not behind an opening bracket") {
  MarkdownWriter writer(kRoom);
  writer.space();
  CHECK(writer.text().empty());
  writer.words("a");
  writer.space();
  writer.mark("[");
  writer.space();
  writer.words("b");
  writer.close("]");
  writer.space();
  CHECK(writer.text() == "a [b]");
}

TEST_CASE("blocks are kept apart by one empty line, and lines by none, however often that is said") {
  MarkdownWriter writer(kRoom);
  writer.new_block();
  writer.words("a");
  writer.new_block();
  writer.new_line();
  writer.new_block();
  writer.words("b ");
  writer.new_line();
  writer.new_line();
  writer.words(" c");
  writer.new_line();
  writer.new_block();
  writer.words("d");
  writer.new_block();
  CHECK(writer.text() == "a\n\nb\nc\n\nd");
}

TEST_CASE("spaces at the end of a line are not kept") {
  MarkdownWriter writer(kRoom);
  writer.mark("a  ");
  writer.new_line();
  writer.words("b");
  CHECK(writer.text() == "a\nb");
}

TEST_CASE("a sign for later is written before words of its block, and forgotten with a block that has none") {
  MarkdownWriter writer(kRoom);
  writer.mark_later("# ");
  writer.new_block();
  writer.words("text");
  writer.new_block();
  writer.mark_later("## ");
  writer.words(" ");
  CHECK(writer.text() == "text");
  writer.words("title");
  writer.words(" on");
  CHECK(writer.text() == "text\n\n## title on");
}

TEST_CASE("brackets in words are escaped while that is asked for, and marks never are") {
  MarkdownWriter writer(kRoom);
  writer.words("[1]");
  writer.escape_brackets(true);
  writer.words("[2]");
  writer.mark("[");
  writer.escape_brackets(false);
  writer.words("[3]");
  CHECK(writer.text() == "[1]\\[2\\][[3]");
}

TEST_CASE("a quote goes on through the empty line between its paragraphs, and ends before the next block") {
  MarkdownWriter writer(kRoom);
  writer.words("before");
  writer.new_block();
  writer.push_prefix("> ");
  writer.words("one");
  writer.new_block();
  writer.words("two");
  writer.new_block();
  writer.pop_prefix();
  writer.words("after");
  CHECK(writer.text() == "before\n\n> one\n>\n> two\n\nafter");
}

TEST_CASE("the first line of an item has a sign of its own, and blocks within blocks have the prefixes of all") {
  MarkdownWriter writer(kRoom);
  writer.push_prefix("> ");
  writer.push_prefix("  ", "- ");
  writer.words("one");
  writer.new_line();
  writer.words("more");
  writer.pop_prefix();
  writer.new_line();
  writer.push_prefix("  ", "- ");
  writer.words("two");
  writer.new_block();
  writer.words("far");
  writer.pop_prefix();
  writer.pop_prefix();
  CHECK(writer.text() == "> - one\n>   more\n> - two\n>\n>   far");
}

TEST_CASE("code stays as it is, with its empty lines and its indents, behind the prefixes") {
  MarkdownWriter writer(kRoom);
  writer.push_prefix("  ", "- ");
  writer.verbatim("if x:\n\n    [y]  z\n");
  writer.verbatim("end");
  CHECK(writer.text() == "- if x:\n\n      [y]  z\n  end");
  writer.verbatim("");
  CHECK(writer.text().ends_with("end"));
}

TEST_CASE("what was written in this line can be taken back") {
  MarkdownWriter writer(kRoom);
  writer.words("a");
  const auto before = writer.size();
  writer.mark("**");
  writer.cut(before);
  writer.words(" b");
  CHECK(writer.text() == "a b");
}

TEST_CASE("a text never gets longer than it may, whatever makes it longer") {
  MarkdownWriter words(5);
  words.words("12345");
  CHECK_THROWS_AS(words.words("6"), std::length_error);
  CHECK_THROWS_AS(words.mark("6"), std::length_error);
  CHECK_THROWS_AS(words.close("6"), std::length_error);
  CHECK_THROWS_AS(words.verbatim("6"), std::length_error);
  CHECK(words.text() == "12345");

  MarkdownWriter quote(5);
  quote.push_prefix("> ");
  quote.words("1");
  quote.new_line();
  CHECK_THROWS_AS(quote.words("2"), std::length_error);
  CHECK(quote.size() <= 5);
}
