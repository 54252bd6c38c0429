// What a header defines for each program that includes it is in no library.
#include "refusal.hpp"
#include "support/catch.hpp"
#include "temporary.hpp"

#include "read/header.hpp"

#include <string>

using namespace bindgen;
using rkllm_mcp::test::has_text;

TEST_CASE("functions that no library exports are left out") {
  const c::Header header = read_header(test::file(
      test::scratch("exported"), "x.h",
      "static int a(int x) { return x; }\nstatic inline int b(int x) { return x; }\ninline int c(int x) { return x; }\n"
      "inline int g(int x);\ninline int g(int x) { return x; }\n"
      "__attribute__((visibility(\"hidden\"))) int d(int x);\nint e(int x);\n"));
  const auto functions = c::all<c::Function>(header);
  REQUIRE(functions.size() == 1);
  CHECK(functions[0]->name == "e");
}

TEST_CASE("an enum that no type holds is refused where it stands, since clang gives its values another sign") {
  CHECK_THAT(test::refusal("enum F { A = -1, B = 0xFFFFFFFFFFFFFFFFull };", test::overlay("")),
             has_text("x.h:1:6: error: ") && has_text("enumeration values exceed range of largest integer"));
}
