#include "text/ascii.hpp"

#include "support/catch.hpp"

using namespace rkllm_mcp;

TEST_CASE("a text without the space around it keeps the space inside") {
  CHECK(without_space_around(" \t\r\n a b\tc \n") == "a b\tc");
  CHECK(without_space_around("a") == "a");
  CHECK(without_space_around("").empty());
  CHECK(without_space_around(" \n\t\r ").empty());
  CHECK(without_space_around("\v a") == "\v a");  // space of other kinds is the text's own
}

TEST_CASE("the first line ends where any line end begins, or with the text") {
  CHECK(first_line("a b\r\nc") == "a b");
  CHECK(first_line("a\nb\n") == "a");
  CHECK(first_line("a") == "a");
  CHECK(first_line("\na").empty());
}
