#include "expected.hpp"

#include "golden_caller.hpp"

#include <cstring>

namespace rkllm_mcp::v1_chosen_struct {

using namespace bindgen::test;

TEST_CASE("an enumerator chooses the struct that a function fills in, and its size is told the function") {
  GoldenCaller caller(kAbiSet, {{"query", symbol(+[](Ask what, void* info, uint32_t size) {
                                   if (what == ASK_COUNT && size == sizeof(Counts)) {
                                     *static_cast<Counts*>(info) = {2, 3};
                                     return 0;
                                   }
                                   if (what != ASK_TENSOR || size != sizeof(Tensor)) return -1;
                                   std::strcpy(static_cast<Tensor*>(info)->name, "logits");
                                   return 0;
                                 })}});
  CHECK(caller.call("query", {{"what", "ASK_COUNT"}}) ==
        Json{{"status", 0}, {"info", {{"n_input", 2}, {"n_output", 3}}}});
  CHECK(caller.call("query", {{"what", 1}, {"info", {{"index", 4}}}}) ==
        Json{{"status", 0}, {"info", {{"index", 4}, {"name", "logits"}}}});
  CHECK_THAT(caller.complaint("query", {{"what", "ASK_COUNT"}, {"info", {{"index", 4}}}}),
             has_text("params.info.index"));
  CHECK_THAT(caller.complaint("query", {{"what", "ASK_OTHER"}}), has_text("params.what"));
  CHECK_THAT(caller.complaint("query", {{"info", {{"index", 4}}}}), has_text("params.what") && has_text("required"));
}

}  // namespace rkllm_mcp::v1_chosen_struct
