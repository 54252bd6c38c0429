#include "expected.hpp"

#include "golden_caller.hpp"

namespace rkllm_mcp::v1_returned_handle {

using namespace bindgen::test;

TEST_CASE("what is left to do is done whatever a function returns") {
  static int made_of = 0;
  static int freed = 0;
  static auto* const made = reinterpret_cast<thing_t>(&made_of);
  static char text[] = "a thing";
  static char* told = text;
  GoldenCaller caller(kAbiSet, {{"make_thing", symbol(+[](int) { return made; })},
                                {"describe", symbol(+[](thing_t it) { return it == made ? told : nullptr; })},
                                {"free_text", symbol(+[](char*) { ++freed; })},
                                {"weigh", symbol(+[](thing_t, float* weights) {
                                   weights[0] = 1;
                                   weights[1] = 2;
                                   return 3.0F;
                                 })},
                                {"unmake", symbol(+[](thing_t) { return true; })},
                                {"take_apart", symbol(+[](thing_t) {
                                   static const float weights[] = {1};
                                   return remains{weights};
                                 })}});
  CHECK(caller.call("make_thing", {{"n_parts", 2}}) == Json{{"handle", "it-1"}});
  CHECK(caller.call("describe") == Json{{"value", "a thing"}});
  CHECK(freed == 1);
  told = nullptr;
  CHECK(caller.call("describe") == Json{{"value", nullptr}});
  CHECK(freed == 1);  // the library need not bear NULL
  CHECK(caller.call("weigh") == Json{{"value", 3.0}, {"weights", {1.0, 2.0}}});
  CHECK(caller.call("unmake") == Json{{"value", true}});
  CHECK(caller.handle.native == nullptr);
  caller.call("make_thing", {{"n_parts", 2}});
  CHECK_THAT(caller.complaint("take_apart"), has_text("n_left"));
  CHECK(caller.handle.native == nullptr);  // it has ended, though what is left of it cannot be told
}

}  // namespace rkllm_mcp::v1_returned_handle
