#include "expected.hpp"

#include "golden_caller.hpp"

namespace rkllm_mcp::v1_callback_struct {

using namespace bindgen::test;

namespace {

on_said_t listener = nullptr;

int say(model_t, const char* prompt, void* userdata) {
  const float scores[] = {0.25F, 0.75F};
  Said said{prompt, 5, {scores, 1, 2}, {}};
  listener(&said, userdata, kWord);
  said.total.words = 1;
  listener(&said, userdata, kEnd);
  return 0;
}

}  // namespace

TEST_CASE("what a callback of a struct of callbacks is given becomes a stream") {
  static int model = 0;
  GoldenCaller caller(kAbiSet, {{"load", symbol(+[](model_t* made, Callbacks* callbacks) {
                                   *made = &model;
                                   listener = callbacks->on_said;
                                   return 0;
                                 })},
                                {"talk", symbol(&say)}});
  caller.call("load");
  CHECK(caller.call("talk", {{"prompt", "hello"}}) == Json{{"status", 0}});
  CHECK(caller.sink.events == std::vector<std::string>{"rows scores.values n_rows=1 n_columns=2", "token 0 'hello' 5",
                                                       R"(end kEnd {"total":{"words":1}})"});
}

}  // namespace rkllm_mcp::v1_callback_struct
