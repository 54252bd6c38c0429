#include "expected.hpp"

#include "golden_caller.hpp"

namespace rkllm_mcp::v1_plain_function {

using namespace bindgen::test;

TEST_CASE("plain parameters arrive in their order and types") {
  GoldenCaller caller(kAbiSet, {{"add", symbol(+[](int32_t a, uint8_t b, bool c, float d) {
                                   return a == -3 && b == 200 && c && d == 0.5F ? 0 : 9;
                                 })},
                                {"nothing", symbol(+[] {})}});
  CHECK(caller.call("add", {{"a", -3}, {"b", 200}, {"c", true}, {"d", 0.5}}) == Json{{"status", 0}});
  CHECK_THAT(caller.complaint("add", {{"a", 1}, {"b", 2}, {"c", true}, {"d", 0.5}}), has_text("9"));
  CHECK_THAT(caller.complaint("add", {{"a", 1}, {"b", 256}, {"c", true}, {"d", 0.5}}), has_text("params.b"));
  CHECK(caller.call("nothing") == Json::object());
}

}  // namespace rkllm_mcp::v1_plain_function
