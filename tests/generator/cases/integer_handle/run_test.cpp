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
  CHECK(reinterpret_cast<std::uintptr_t>(caller.handle.native) == 7);
  CHECK(caller.call("size_of") == Json{{"value", 8}});
  CHECK(caller.call("end_context") == Json{{"status", 0}});
  CHECK(caller.handle.native == nullptr);
  CHECK_THAT(caller.complaint("make_context", {{"size", 0}}), has_text("gave no handle"));
}

TEST_CASE("what a function gives that is no handle is told by its value") {
  const auto given = [](auto value) -> std::string {
    const Json params = Json::object();
    HandleRecord handle;
    CallContext call{.params = params, .handle = &handle, .arena = {}};
    Json reply;
    try {
      adopt_handle(call, "open_it", value, "handle", reply);
    } catch (const CallFailed& failed) {
      return failed.what();
    }
    return "taken";
  };
  CHECK_THAT(given(-1), has_text("open_it gave -1, which is no handle"));
  CHECK_THAT(given(std::int64_t{-7}), has_text("open_it gave -7, which is no handle"));
  CHECK_THAT(given(0), has_text("open_it reported success but gave no handle"));
  CHECK(given(3) == "taken");
  if constexpr (sizeof(void*) == 4)
    CHECK_THAT(given(std::int64_t{1} << 40), has_text("open_it gave 1099511627776, which is larger than a pointer"));
}

}  // namespace rkllm_mcp::v1_integer_handle
