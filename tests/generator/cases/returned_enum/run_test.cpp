#include "expected.hpp"

#include "golden_caller.hpp"

namespace rkllm_mcp::v1_returned_enum {

using namespace bindgen::test;

TEST_CASE("a returned enumerator is told by name, the first of two, and an unknown value by its number") {
  GoldenCaller caller(kAbiSet, {{"state_of", symbol(+[](int lamp) { return static_cast<LampState>(lamp); })},
                                {"lamp_of", symbol(+[](int lamp) {
                                   return Lamp{static_cast<LampState>(lamp), 3};
                                 })},
                                {"set_state", symbol(+[](LampState state, Lamp lamp) {
                                   return state == kBright && lamp.state == kDark ? 0 : 9;
                                 })},
                                {"unscrew", symbol(+[](int lamp) { return lamp == 0 ? kFine : kBroken; })}});
  CHECK(caller.call("unscrew", {{"lamp", 0}}) == Json{{"status", 0}});
  CHECK_THROWS(caller.call("unscrew", {{"lamp", 1}}));
  CHECK(caller.call("state_of", {{"lamp", 0}}) == Json{{"value", "kDark"}});
  CHECK(caller.call("state_of", {{"lamp", 1}}) == Json{{"value", "kBright"}});
  CHECK(caller.call("state_of", {{"lamp", 7}}) == Json{{"value", 7}});
  CHECK(caller.call("lamp_of", {{"lamp", 7}}) == Json{{"state", 7}, {"hours", 3}});
  CHECK(caller.call("set_state", {{"state", "kShining"}, {"lamp", Json::object()}}) == Json{{"status", 0}});
}

}  // namespace rkllm_mcp::v1_returned_enum
