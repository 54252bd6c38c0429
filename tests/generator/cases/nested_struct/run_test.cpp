#include "expected.hpp"

#include "golden_caller.hpp"

namespace rkllm_mcp::v1_nested_struct {

using namespace bindgen::test;

TEST_CASE("structs come by value, by pointer and in place") {
  static Outer given{};
  GoldenCaller caller(kAbiSet, {{"get", symbol(+[] {
                                   Outer outer{};
                                   outer.inner.scale = 2;
                                   return outer;
                                 })},
                                {"put", symbol(+[](Outer* outer) {
                                   given = *outer;
                                   return outer->place.label == std::string("x") && outer->other->scale == 1.5F ? 0 : 9;
                                 })}});
  CHECK(caller.call("get") == Json{{"inner", {{"scale", 2.0}}}, {"other", nullptr}});
  CHECK(caller.call("put", {{"outer", {{"other", Json::object()}, {"place", {{"label", "x"}, {"more", 3}}}}}}) ==
        Json{{"status", 0}});
  CHECK(given.inner.scale == 2);
  CHECK(given.place.more == 3);
}

}  // namespace rkllm_mcp::v1_nested_struct
