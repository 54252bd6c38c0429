#include "expected.hpp"

#include "golden_caller.hpp"

namespace rkllm_mcp::v1_tagged_union {

using namespace bindgen::test;

TEST_CASE("the tag tells which member of a union is read") {
  GoldenCaller caller(kAbiSet, {{"put", symbol(+[](Either* either) {
                                   return either->kind == kNumber ? static_cast<int>(either->number)
                                                                  : (either->text == std::string("a") ? 0 : 9);
                                 })}});
  CHECK(caller.call("put", {{"either", {{"text", "a"}}}}) == Json{{"status", 0}});
  CHECK(caller.call("put", {{"either", {{"kind", "kNumber"}, {"number", 0}}}}) == Json{{"status", 0}});
  CHECK_THAT(caller.complaint("put", {{"either", {{"kind", "kNumber"}, {"text", "a"}}}}),
             has_text("belongs to kind kText"));
}

}  // namespace rkllm_mcp::v1_tagged_union
