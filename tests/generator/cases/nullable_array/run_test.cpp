#include "expected.hpp"

#include "golden_caller.hpp"

namespace rkllm_mcp::v1_nullable_array {

using namespace bindgen::test;

TEST_CASE("two arrays come together, as long as the creating call said, or not at all") {
  static int shelf = 0;
  GoldenCaller caller(kAbiSet,
                      {{"build", symbol(+[](shelf_t* made, int) {
                          *made = &shelf;
                          return 0;
                        })},
                       {"clear", symbol(+[](shelf_t, int* from, int* to) {
                          return from == nullptr ? (to == nullptr ? 0 : 8) : from[1] == 2 && to[1] == 4 ? 0 : 9;
                        })}});
  caller.call("build", {{"rows", 2}});
  CHECK(caller.call("clear") == Json{{"status", 0}});
  CHECK(caller.call("clear", {{"from", {1, 2}}, {"to", {3, 4}}}) == Json{{"status", 0}});
  CHECK_THAT(caller.complaint("clear", {{"from", {1, 2}}}), has_text("given together or not at all"));
  CHECK_THAT(caller.complaint("clear", {{"from", {1}}, {"to", {3}}}), has_text("expected 2 values (rows)"));
}

}  // namespace rkllm_mcp::v1_nullable_array
