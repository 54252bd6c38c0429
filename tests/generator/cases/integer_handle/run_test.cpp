#include "expected.hpp"

#include "golden_caller.hpp"

namespace rkllm_mcp::v1_integer_handle {

using namespace bindgen::test;

TEST_CASE("a handle may be an integer, and 0 is none") {
  GoldenCaller caller(kAbiSet, {{"make_context", symbol(+[](context_t* context, int size) {
                                   *context = static_cast<context_t>(size);
                                   return 0;
                                 })},
                                {"size_of", symbol(+[](context_t context) { return static_cast<int>(context) + 1; })},
                                {"end_context", symbol(+[](context_t context) { return context == 7 ? 0 : -1; })}});
  CHECK(caller.call("make_context", {{"size", 7}}) == Json{{"status", 0}, {"context", "it-1"}});
  CHECK(caller.handle.native == reinterpret_cast<void*>(std::uintptr_t{7}));
  CHECK(caller.call("size_of") == Json{{"value", 8}});
  CHECK(caller.call("end_context") == Json{{"status", 0}});
  CHECK(caller.handle.native == nullptr);
  CHECK_THAT(caller.complaint("make_context", {{"size", 0}}), has_text("gave no handle"));
}

}  // namespace rkllm_mcp::v1_integer_handle
