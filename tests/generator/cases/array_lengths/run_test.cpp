#include "expected.hpp"

#include "golden_caller.hpp"

namespace rkllm_mcp::v1_array_lengths {

using namespace bindgen::test;

TEST_CASE("lengths follow from each other, and elements from what is known of the handle") {
  static int model = 0;
  GoldenCaller caller(kAbiSet,
                      {{"load", symbol(+[](model_t* made, int) {
                          *made = &model;
                          return 0;
                        })},
                       {"take", symbol(+[](model_t, const Prompt* prompt) {
                          return prompt->n_ids == 2 && prompt->weights[1] == 0.5F && prompt->vectors[3] == 4 ? 0 : 9;
                        })}});
  caller.call("load", {{"vocabulary", 10}});
  const Json prompt{{"ids", {1, 9}}, {"weights", {1, 0.5}}, {"vectors", {1, 2, 3, 4}}};
  const auto with = [&](const char* name, const Json& values) {
    Json changed = prompt;
    changed[name] = values;
    return caller.complaint("take", {{"prompt", changed}});
  };
  CHECK(caller.call("take", {{"prompt", prompt}}) == Json{{"status", 0}});
  CHECK_THAT(with("ids", {1, 10}), has_text("integer below 10 (vocabulary)"));
  CHECK_THAT(with("ids", {1, -1}), has_text("params.prompt.ids[1]"));
  CHECK_THAT(with("weights", {1, 2, 3}), has_text("as many values as ids has"));
  CHECK_THAT(with("vectors", {1, 2, 3}), has_text("a multiple of 2 (n_ids) values"));
}

}  // namespace rkllm_mcp::v1_array_lengths
