#include "fake_library.hpp"
#include "support/catch.hpp"

using namespace rkllm_mcp;
using namespace rkllm_mcp::v1_3_0;
using rkllm_mcp::test::Caller;
using rkllm_mcp::test::FakeLibrary;

TEST_CASE("a prompt reaches the runtime with default parameters, never with NULL ones") {
  FakeLibrary library;
  Caller caller(library);
  bool called = false;
  library.on_run = [&](RKLLMInput* input, RKLLMInferParam* infer, void* userdata) {
    called = true;
    CHECK(input->input_type == RKLLM_INPUT_PROMPT);
    CHECK(std::string(input->prompt_input) == "Hello");
    CHECK(input->role == nullptr);
    REQUIRE(infer != nullptr);
    CHECK(infer->mode == RKLLM_INFER_GENERATE);
    CHECK(infer->lora_params == nullptr);
    CHECK(infer->prompt_cache_params == nullptr);
    CHECK(infer->sampling_params == nullptr);
    CHECK(infer->keep_history == 0);
    CHECK(infer->max_new_tokens == 0);
    CHECK(userdata == static_cast<ResultSink*>(&caller.sink));
  };
  CHECK(caller.call("rkllm_run", {{"rkllm_input", {{"prompt_input", "Hello"}}}}) == Json({{"status", 0}}));
  CHECK(called);
}

TEST_CASE("token ids, and their number, reach the runtime") {
  FakeLibrary library;
  Caller caller(library);
  library.on_run = [](RKLLMInput* input, RKLLMInferParam*, void*) {
    CHECK(input->input_type == RKLLM_INPUT_TOKEN);
    REQUIRE(input->token_input.n_tokens == 3);
    CHECK(input->token_input.input_ids[2] == 99);
  };
  caller.call("rkllm_run",
              {{"rkllm_input", {{"input_type", "RKLLM_INPUT_TOKEN"}, {"token_input", {{"input_ids", {0, 1, 99}}}}}}});
}

TEST_CASE("embeddings are given as numbers or as base64") {
  FakeLibrary library;
  Caller caller(library);
  caller.handle.values["embd_size"] = 2;
  library.on_run = [](RKLLMInput* input, RKLLMInferParam*, void*) {
    CHECK(input->embed_input.n_tokens == 1);
    CHECK(input->embed_input.embed[1] == 1.0F);
  };
  for (const char* embed : {"[0,1]", R"({"base64":"AAAAAAAAgD8=","dtype":"float32"})"}) {
    caller.call("rkllm_run", {{"rkllm_input", {{"input_type", 2}, {"embed_input", {{"embed", Json::parse(embed)}}}}}});
  }
  CHECK(library.calls.size() == 2);
}

TEST_CASE("images arrive with their counts, and an absent video is all zero") {
  FakeLibrary library;
  Caller caller(library);
  library.on_run = [](RKLLMInput* input, RKLLMInferParam*, void*) {
    const auto& multimodal = input->multimodal_input;
    CHECK(std::string(multimodal.prompt) == "<image>What?");
    CHECK(multimodal.image.n_image == 2);
    CHECK(multimodal.image.n_image_tokens == 1);
    CHECK(std::string(multimodal.image.image_content) == "<pad>");
    CHECK(multimodal.image.image_width == 336);
    CHECK(multimodal.video.video_embed == nullptr);
    CHECK(multimodal.video.n_video == 0);
    CHECK(multimodal.video.frame_height == 0);
  };
  const Json image = {{"image_embed", {1, 2, 3, 4, 5, 6, 7, 8}},
                      {"n_image_tokens", 1},
                      {"image_start", ""},
                      {"image_end", ""},
                      {"image_content", "<pad>"},
                      {"image_width", 336},
                      {"image_height", 336}};
  caller.call("rkllm_run", {{"rkllm_input",
                             {{"input_type", "RKLLM_INPUT_MULTIMODAL"},
                              {"multimodal_input", {{"prompt", "<image>What?"}, {"image", image}}}}}});
  CHECK(library.calls.size() == 1);
}

TEST_CASE("nested parameters are optional, and start from the runtime's defaults") {
  FakeLibrary library;
  Caller caller(library);
  library.on_run = [](RKLLMInput*, RKLLMInferParam* infer, void*) {
    CHECK(infer->mode == RKLLM_INFER_GET_LOGITS);
    REQUIRE(infer->sampling_params != nullptr);
    CHECK(infer->sampling_params->top_k == 1);
    CHECK(infer->sampling_params->temperature == 0.8F);
    CHECK(infer->sampling_params->repeat_penalty == 1.1F);
    CHECK(std::string(infer->lora_params->lora_adapter_name) == "style");
    CHECK(infer->prompt_cache_params->save_prompt_cache == 1);
    CHECK(infer->prompt_cache_params->prompt_cache_path == nullptr);
    CHECK(infer->keep_history == 1);
  };
  caller.call("rkllm_run", {{"rkllm_input", {{"prompt_input", "x"}}},
                            {"rkllm_infer_params",
                             {{"mode", "RKLLM_INFER_GET_LOGITS"},
                              {"sampling_params", {{"top_k", 1}}},
                              {"lora_params", {{"lora_adapter_name", "style"}}},
                              {"prompt_cache_params", {{"save_prompt_cache", true}}},
                              {"keep_history", 1}}}});
  CHECK(library.calls.size() == 1);
}

TEST_CASE("a batch is an array of exactly n_batch inputs") {
  FakeLibrary library;
  Caller caller(library);
  const Json one = {{"prompt_input", "a"}};
  CHECK(caller.complaint("rkllm_run", {{"rkllm_input", Json::array({one})}}) == "no complaint");
  CHECK(caller.complaint("rkllm_run", {{"rkllm_input", Json::array({one, one})}}) ==
        "params.rkllm_input: expected array of 1 objects (n_batch), found 2 elements");
  caller.handle.values["n_batch"] = 2;
  library.on_run = [](RKLLMInput* input, RKLLMInferParam*, void*) {
    CHECK(std::string(input[0].prompt_input) == "a");
    CHECK(std::string(input[1].prompt_input) == "b");
  };
  const Json two = Json::array({one, Json{{"prompt_input", "b"}}});
  CHECK(caller.complaint("rkllm_run", {{"rkllm_input", two}}) == "no complaint");
  CHECK(caller.complaint("rkllm_run", {{"rkllm_input", one}}) ==
        "params.rkllm_input: expected array of 2 objects (n_batch), found object");
  CHECK(caller.complaint("rkllm_run", {{"rkllm_input", Json::array({one, Json{{"prompt_input", 1}}})}}) ==
        "params.rkllm_input[1].prompt_input: expected string, found 1");
}

TEST_CASE("rkllm_run_async waits for the end, and tells when there was none") {
  FakeLibrary library;
  Caller caller(library);
  library.on_run = [&](auto*, auto*, void*) { library.running = 1; };
  const Json params = {{"rkllm_input", {{"prompt_input", "x"}}}};
  CHECK(caller.call("rkllm_run_async", params) == Json({{"status", 0}}));
  CHECK(caller.sink.was_running);
  CHECK(library.calls == std::vector<std::string>{"rkllm_is_running", "rkllm_run_async", "rkllm_is_running"});
  caller.sink.end_is_seen = false;
  CHECK(caller.complaint("rkllm_run_async", params) ==
        "rkllm_run_async ended without calling back; the runtime's log says why");
}

TEST_CASE("rkllm_run_async is refused on a handle without is_async, before anything is called") {
  FakeLibrary library;
  Caller caller(library);
  caller.handle.values["is_async"] = 0;
  const std::string complaint = caller.complaint("rkllm_run_async", {{"rkllm_input", {{"prompt_input", "x"}}}});
  CHECK(complaint.find("rkllm_run_async was not called: this handle was made with is_async false") == 0);
  CHECK(library.calls.empty());
  CHECK(caller.complaint("rkllm_run", {{"rkllm_input", {{"prompt_input", "x"}}}}) == "no complaint");
}
