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

TEST_CASE("the smallest integer is written as C++ can read it") {
  CHECK(integer_text(INT64_MIN) == "-9223372036854775807 - 1");
  CHECK(integer_text(INT64_MIN + 1) == "-9223372036854775807");
  CHECK(integer_text(42) == "42");
}
