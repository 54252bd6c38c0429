#include "expected.hpp"

#include "golden_caller.hpp"

using namespace bindgen::test;
using namespace rkllm_mcp::v1_tagged_union;

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
