// Pieces of C++ that end where they should, whatever text they are made of.
#include "support/catch.hpp"

#include "emit/code_text.hpp"

using namespace bindgen;

TEST_CASE("no comment ends in a backslash, which would make the next line a part of it") {
  CodeText code;
  code.comment("Below C:\\\nand D:\\ " + std::string(200, 'x') + " E:\\");
  CHECK(code.text() == "// Below C:\\.\n// and D:\\.\n// " + std::string(200, 'x') + "\n// E:\\.\n");
}

TEST_CASE("a raw literal ends with its own mark only") {
  CHECK(raw_literal("{1}") == "R\"({1})\"");
  CHECK(raw_literal("{\"b)\"}") == "R\"json({\"b)\"})json\"");
  CHECK(raw_literal("{\"b)\":\"d)json\"}") == "R\"json_({\"b)\":\"d)json\"})json_\"");
}

TEST_CASE("control characters of a text are written as escapes") {
  CHECK(literal("a\tb\r\x1B"
                "1\x7F\n\"\\") == R"("a\011b\015\0331\177\n\"\\")");
}

TEST_CASE("characters of a text that nobody sees are written as escapes, and the others stay") {
  CHECK(literal("\xE2\x80\xAE\xC3\xA9\xC2\x85\xE4\xB8\xAD\xE2\x81\xA6") ==
        "\"\\342\\200\\256\xC3\xA9\\302\\205\xE4\xB8\xAD\\342\\201\\246\"");
}

TEST_CASE("a text is cut at blanks, also a very long one, into literals that fit") {
  const auto lines = [](const std::string& text) { return literal_lines(text, 110); };  // 7 for the text
  CHECK(lines("ab cd ef gh") == std::vector<std::string>{"\"ab cd \"", "\"ef gh\""});
  CHECK(lines("ab cd") == std::vector<std::string>{"\"ab cd\""});
  CHECK(lines("abcdefghij kl") == std::vector<std::string>{"\"abcdefghij \"", "\"kl\""});
  CHECK(lines("a \"\" \"\" b") == std::vector<std::string>{R"("a \"\" ")", R"("\"\" b")"});
  CHECK(lines(" abcdefghij").size() == 1);
  CHECK(lines("").size() == 1);
  // For hours, if each piece were measured with all that follows it.
  std::string text;
  for (int i = 0; i < 300000; ++i) text += "word ";
  CHECK(literal_lines(text, 4).size() > 10000);
}

TEST_CASE("the smallest integer is written as C++ can read it") {
  CHECK(integer_text(INT64_MIN) == "-9223372036854775807 - 1");
  CHECK(integer_text(INT64_MIN + 1) == "-9223372036854775807");
  CHECK(integer_text(42) == "42");
}
