#include "expected.hpp"

#include "golden_caller.hpp"

namespace rkllm_mcp::v1_unused_function {

using namespace bindgen::test;

TEST_CASE("a function that is unused is no method, and need not be in the library") {
  GoldenCaller caller(kAbiSet, {{"is_so", symbol(+[](bool not_so) { return !not_so; })},
                                {"take", symbol(+[](const Open* open) { return open->weight == 5 ? 0 : -1; })}});
  CHECK(kAbiSet.methods.size() == 2);
  CHECK(caller.call("is_so", {{"not_so", false}}) == Json{{"value", true}});
  CHECK(caller.call("take", {{"open", {{"weight", 5}}}}) == Json{{"status", 0}});
}

}  // namespace rkllm_mcp::v1_unused_function
