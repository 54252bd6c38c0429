#include "expected.hpp"

#include "golden_caller.hpp"

namespace rkllm_mcp::v1_batch {

using namespace bindgen::test;

TEST_CASE("the batch of a later call has the size that the creating call was given") {
  static int model = 0;
  GoldenCaller caller(kAbiSet, {{"load", symbol(+[](model_t* made, int) {
                                   *made = &model;
                                   return 0;
                                 })},
                                {"ask", symbol(+[](model_t with, const Question* questions) {
                                   return with == &model && questions[1].text == std::string("b") ? 0 : 9;
                                 })}});
  CHECK_THAT(caller.complaint("ask", {{"questions", {{{"text", "a"}}}}}), has_text("n_batch is not known yet"));
  CHECK(caller.call("load", {{"n_batch", 2}}) == Json{{"status", 0}, {"model", "it-1"}});
  CHECK(caller.call("ask", {{"questions", {{{"text", "a"}}, {{"text", "b"}}}}}) == Json{{"status", 0}});
  CHECK_THAT(caller.complaint("ask", {{"questions", {{"text", "a"}}}}), has_text("array of 2 objects (n_batch)"));
}

}  // namespace rkllm_mcp::v1_batch
