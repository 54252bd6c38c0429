#include "expected.hpp"

#include "golden_caller.hpp"

namespace rkllm_mcp::v1_handle {

using namespace bindgen::test;

TEST_CASE("a handle is made, asked and ended") {
  static int made_of = 0;
  static auto* const made = reinterpret_cast<thing_t>(&made_of);
  GoldenCaller caller(kAbiSet, {{"make", symbol(+[](thing_t* out, const char*) {
                                   *out = made;
                                   return 0;
                                 })},
                                {"is_alive", symbol(+[](thing_t it) { return it == made ? 7 : 3; })},
                                {"sizes", symbol(+[](thing_t, int* out) {
                                   out[0] = 5;
                                   return 0;
                                 })},
                                {"unmake", symbol(+[](thing_t) { return 0; })}});
  CHECK(caller.call("make") == Json{{"status", 0}, {"thing", "it-1"}});
  CHECK(caller.call("is_alive") == Json{{"alive", true}, {"status", 7}});
  CHECK_THAT(caller.complaint("sizes"), has_text("parts is not known yet"));
  caller.handle.values["parts"] = 1;
  CHECK(caller.call("sizes") == Json{{"status", 0}, {"out", {5}}});
  caller.call("unmake");
  CHECK(caller.handle.native == nullptr);
}

}  // namespace rkllm_mcp::v1_handle
