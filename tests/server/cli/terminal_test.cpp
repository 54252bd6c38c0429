#include "cli/help/terminal.hpp"

#include "support/catch.hpp"
#include "support/process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

using rkllm_mcp::columns_of;
using rkllm_mcp::HelpRow;
using rkllm_mcp::Paint;
using rkllm_mcp::rows_text;
using rkllm_mcp::wants_colours;
using rkllm_mcp::without_control_characters;
using rkllm_mcp::wrapped;
using rkllm_mcp::wrapped_lines;

TEST_CASE("text from elsewhere tells a terminal nothing, by one byte or by two") {
  CHECK(without_control_characters("a\x1b[2Jb\a\r\x7f"
                                   "c") == "a[2Jbc");
  CHECK(without_control_characters("a\xC2\x9B"
                                   "2Jb") == "a2Jb");
  for (int second = 0x80; second < 0xA0; ++second) {
    CHECK(without_control_characters(std::string("\xC2") + static_cast<char>(second)).empty());
  }
}

TEST_CASE("what is taken out of a text leaves nothing that a terminal obeys") {
  CHECK(without_control_characters("\xC2\x01\x9B"
                                   "x") == "x");
  CHECK(without_control_characters("\xC2\xC2\x9B\x9B"
                                   "x") == "x");
}

TEST_CASE("ends of lines, tabs and letters of all languages stay as they are") {
  const std::string text = "a\tb\nc \xC2\xA0\xC2\xBF Hu\xE1\xBA\xBF \xF0\x9F\xA6\x80 \xE2\x80\x9C\n";
  CHECK(without_control_characters(text) == text);
  CHECK(without_control_characters("").empty());
  CHECK(without_control_characters("\xC2") == "\xC2");  // half a character stays half a one
}

TEST_CASE("where no terminal is, there are no colours, and lines are as wide as usual") {
  const rkllm_mcp::test::TemporaryDirectory directory;
  rkllm_mcp::test::write_file(directory / "file", "");
  const int file = ::open((directory / "file").c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(file >= 0);
  CHECK(columns_of(file) == 80);
  CHECK_FALSE(wants_colours(file));
  const Paint paint(file);
  CHECK(paint.red("x") == "x");
  CHECK(paint.bold("") == "");
  ::close(file);
  CHECK(columns_of(-1) == 80);
}

TEST_CASE("text is broken at spaces, and what is longer than a line stands on one of its own") {
  CHECK(wrapped("aa bb cc", 5, 0) == "aa bb\ncc");
  CHECK(wrapped("aa bb cc", 5, 2) == "aa\n  bb\n  cc");
  CHECK(wrapped("a longerthanall b", 6, 0) == "a\nlongerthanall\nb");
  CHECK(wrapped("  a   b ", 20, 0) == "a b");
  CHECK(wrapped("", 5, 2).empty());
}

TEST_CASE("lines are as long as they look: characters count, not bytes") {
  CHECK(wrapped("\xC3\xBC\xC3\xBC \xC3\xBC\xC3\xBC x", 5, 0) == "\xC3\xBC\xC3\xBC \xC3\xBC\xC3\xBC\nx");
}

TEST_CASE("an end of line stays one, and an empty line has no spaces") {
  CHECK(wrapped("a\nb", 20, 2) == "a\n  b");
  CHECK(wrapped("a\n\nb", 20, 2) == "a\n\n  b");
}

TEST_CASE("each line of a text is wrapped by itself, and goes on two columns behind its own spaces") {
  CHECK(wrapped_lines("aa bb\n  cc dd ee\n", 7) == "aa bb\n  cc\n    dd\n    ee\n");
  CHECK(wrapped_lines("aa bb cc\nd", 5) == "aa bb\ncc\nd");
  CHECK(wrapped_lines("", 5).empty());
}

TEST_CASE("rows stand below each other, and a name that is too wide on a line of its own") {
  const std::vector<HelpRow> rows{{"a", "first"}, {"abc", "second"}, {"much-too-long", "third"}};
  CHECK(rows_text("Names", rows, 80, 5) ==
        "Names:\n"
        "  a    first\n"
        "  abc  second\n"
        "  much-too-long\n"
        "       third\n");
  CHECK(rows_text("Names", {}, 80).empty());
}

TEST_CASE("in a narrow terminal the texts stand below the names") {
  CHECK(rows_text("Names", {{"abcdef", "one two"}}, 40) == "Names:\n  abcdef\n      one two\n");
}
