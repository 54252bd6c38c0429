#include "expected.hpp"

#include "golden_caller.hpp"

namespace rkllm_mcp::v1_unsigned_enum {

using namespace bindgen::test;

TEST_CASE("enumerators that are beyond a signed enum keep their values, by name and as numbers") {
  static Order taken;
  GoldenCaller caller(kAbiSet, {{"order", symbol(+[](Order* order) {
                                   taken = *order;
                                   return 0;
                                 })},
                                {"last", symbol(+[] { return taken; })}});
  CHECK(caller.call("order", {{"order", {{"flags", "kAll"}}}}) == Json{{"status", 0}});
  CHECK(static_cast<std::uint32_t>(taken.flags) == 0xFFFFFFFF);
  CHECK(static_cast<std::int64_t>(taken.count) == -1);
  CHECK(caller.call("order", {{"order", {{"flags", 0x80000000}, {"count", "kMost"}}}}) == Json{{"status", 0}});
  CHECK(taken.flags == kHigh);
  CHECK(static_cast<std::int64_t>(taken.count) == 0xFFFFFFFF);
  CHECK(caller.call("last", Json::object()) == Json{{"flags", "kHigh"}, {"count", "kMost"}});
}

}  // namespace rkllm_mcp::v1_unsigned_enum
