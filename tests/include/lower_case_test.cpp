#include "support/catch.hpp"

#include <rkllm_mcp/lower_case.hpp>

using namespace rkllm_mcp;

TEST_CASE("the letters of ASCII become small, and no other byte changes") {
  CHECK(in_lower_case("Content-TYPE az AZ @[`{ 09") == "content-type az az @[`{ 09");
  CHECK(in_lower_case("\xC3\x84\xFF") == "\xC3\x84\xFF");
  CHECK(in_lower_case("").empty());
  static_assert(in_lower_case('Q') == 'q');
}
