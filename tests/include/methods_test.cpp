#include "fake_library.hpp"
#include "support/catch.hpp"

#include <set>

using namespace rkllm_mcp;
using namespace rkllm_mcp::v1_3_0;
using rkllm_mcp::test::Caller;
using rkllm_mcp::test::FakeLibrary;
using rkllm_mcp::test::method_named;

TEST_CASE("a library without one of the functions is refused, and the function is named") {
  FakeLibrary library;
  library.missing = "rkllm_abort";
  try {
    const Caller caller(library);
    FAIL("the library was accepted");
  } catch (const RpcError& error) {
    CHECK(error.code() == ErrorCode::kRuntimeUnavailable);
    CHECK(std::string(error.what()).find("rkllm_abort") != std::string::npos);
  }
}

TEST_CASE("methods are described: handles, streams, what may be called during a run") {
  CHECK(kAbiSet.methods.size() == 15);
  CHECK(method_named("rkllm_init").handle == HandleRole::kCreates);
  CHECK(method_named("rkllm_init").handle_param.empty());
  CHECK(method_named("rkllm_destroy").handle == HandleRole::kDestroys);
  CHECK(method_named("rkllm_createDefaultParam").handle == HandleRole::kNone);
  CHECK(method_named("rkllm_createDefaultParam").params.empty());
  std::set<std::string_view> streaming;
  std::set<std::string_view> immediate;
  for (const Method& method : kAbiSet.methods) {
    if (method.streams) streaming.insert(method.name);
    if (method.immediate) immediate.insert(method.name);
    CHECK((method.aborts == (method.name == "rkllm_abort")));
    CHECK((method.streams_by_default == (method.name == "rkllm_run_async")));
    CHECK_FALSE(method.title.empty());
    CHECK_FALSE(method.description.empty());
  }
  CHECK(streaming == std::set<std::string_view>{"rkllm_run", "rkllm_run_async"});
  CHECK(immediate == std::set<std::string_view>{"rkllm_abort", "rkllm_is_running"});
  const auto params = method_named("rkllm_run").params;
  CHECK(std::vector<std::string_view>(params.begin(), params.end()) ==
        std::vector<std::string_view>{"handle", "rkllm_input", "rkllm_infer_params"});
}

TEST_CASE("a status other than 0 is an error that carries function and status") {
  FakeLibrary library;
  Caller caller(library);
  library.status = 1;  // rkllm_load_prompt_cache returns 1 for garbage
  try {
    caller.call("rkllm_load_prompt_cache", {{"prompt_cache_path", "x"}});
    FAIL("no error");
  } catch (const RpcError& error) {
    CHECK(error.code() == ErrorCode::kCallFailed);
    CHECK(error.data() == Json({{"function", "rkllm_load_prompt_cache"}, {"status", 1}}));
  }
}

TEST_CASE("rkllm_is_running answers yes, no, or with an error") {
  FakeLibrary library;
  Caller caller(library);
  CHECK(caller.call("rkllm_is_running", Json::object()) == Json({{"running", false}, {"status", 0}}));
  library.running = 1;
  CHECK(caller.call("rkllm_is_running", {{"handle", "llm-1"}}) == Json({{"running", true}, {"status", 1}}));
  library.running = -1;
  CHECK(caller.complaint("rkllm_is_running", Json::object()) == "rkllm_is_running returned -1");
}

TEST_CASE("a destroyed handle is forgotten, one that could not be destroyed is not") {
  FakeLibrary library;
  Caller caller(library);
  library.status = -1;
  CHECK(caller.complaint("rkllm_destroy", Json::object()) == "rkllm_destroy returned -1");
  CHECK(caller.handle.native != nullptr);
  library.status = 0;
  CHECK(caller.call("rkllm_destroy", Json::object()) == Json({{"status", 0}}));
  CHECK(caller.handle.native == nullptr);
}

TEST_CASE("the KV cache has one size per input of the batch") {
  FakeLibrary library;
  Caller caller(library);
  caller.handle.values["n_batch"] = 2;
  CHECK(caller.call("rkllm_get_kv_cache_size", Json::object()) == Json({{"status", 0}, {"cache_sizes", {12, 0}}}));
}

TEST_CASE("a range of the KV cache has both ends, for every input of the batch") {
  FakeLibrary library;
  Caller caller(library);
  library.on_clear = [](int keep, int* start, int* end) {
    CHECK(keep == 1);
    CHECK(start == nullptr);
    CHECK(end == nullptr);
  };
  caller.call("rkllm_clear_kv_cache", {{"keep_system_prompt", true}});
  caller.call("rkllm_clear_kv_cache", {{"keep_system_prompt", 1}, {"start_pos", nullptr}, {"end_pos", nullptr}});
  library.on_clear = [](int keep, int* start, int* end) {
    CHECK(keep == 0);
    CHECK(start[0] == 2);
    CHECK(end[0] == 5);
  };
  caller.call("rkllm_clear_kv_cache", {{"start_pos", {2}}, {"end_pos", {5}}});
  CHECK(library.calls.size() == 3);
  CHECK(caller.complaint("rkllm_clear_kv_cache", {{"start_pos", {2}}}) ==
        "params.end_pos: is missing: start_pos and end_pos are given together or not at all");
  CHECK(caller.complaint("rkllm_clear_kv_cache", {{"start_pos", {2, 3}}, {"end_pos", {5, 6}}}) ==
        "params.start_pos: expected 1 values (n_batch), found 2");
  CHECK(caller.complaint("rkllm_clear_kv_cache", {{"start_pos", {-1}}, {"end_pos", {5}}})
            .find("params.start_pos[0]: expected integer from 0") == 0);
}

TEST_CASE("tools are JSON, as a string or as they are") {
  FakeLibrary library;
  Caller caller(library);
  const auto set = [&](const Json& tools) {
    return caller.complaint("rkllm_set_function_tools",
                            {{"system_prompt", ""}, {"tools", tools}, {"tool_response_str", "tool_response"}});
  };
  CHECK(set("[]") == "no complaint");
  CHECK(set(" {\"a\": 1}") == "no complaint");
  CHECK(library.texts[1] == " {\"a\": 1}");
  CHECK(set(Json::array({Json{{"type", "function"}}})) == "no complaint");
  CHECK(library.texts[1] == R"([{"type":"function"}])");
  for (const Json& tools :
       {Json(""), Json("["), Json("1"), Json("\"text\""), Json("[1] [2]"), Json(1), Json(nullptr)}) {
    INFO(tools.dump());
    CHECK(set(tools).find("params.tools: expected ") == 0);
  }
}

TEST_CASE("cross attention arrays agree about the number of tokens") {
  FakeLibrary library;
  Caller caller(library);
  library.on_cross_attention = [](RKLLMCrossAttnParam* params) {
    CHECK(params->num_tokens == 2);
    CHECK(params->encoder_k_cache[3] == 4.0F);
    CHECK(params->encoder_pos[1] == 1);
  };
  const auto set = [&](const Json& changes) {
    Json params = {{"encoder_k_cache", {1, 2, 3, 4}},
                   {"encoder_v_cache", {1, 2, 3, 4}},
                   {"encoder_mask", {0, 0}},
                   {"encoder_pos", {0, 1}}};
    params.update(changes);
    return caller.complaint("rkllm_set_cross_attn_params", {{"cross_attn_params", params}});
  };
  const std::string at = "params.cross_attn_params.";
  CHECK(set({{"num_tokens", 2}}) == "no complaint");
  CHECK(set(Json::object()) == "no complaint");
  CHECK(set({{"num_tokens", 3}}) == at + "encoder_mask: expected 3 (num_tokens) values, found 2");
  CHECK(set({{"encoder_pos", {0, 1, 2}}}) == at + "encoder_pos: expected 2 (num_tokens) values, found 3");
  CHECK(set({{"encoder_k_cache", {1, 2, 3}}}) ==
        at + "encoder_k_cache: expected a multiple of 2 (num_tokens) values, found 3");
  CHECK(set({{"encoder_v_cache", {1, 2}}}) ==
        at + "encoder_v_cache: expected as many values as encoder_k_cache has, 4, found 2");
  CHECK(set({{"encoder_mask", nullptr}}).find(at + "encoder_mask: expected array") == 0);
  caller.handle.values["use_cross_attn"] = 0;
  CHECK(set(Json::object()).find("rkllm_set_cross_attn_params was not called: this handle was made with") == 0);
}

TEST_CASE("texts reach the runtime, empty ones too") {
  FakeLibrary library;
  Caller caller(library);
  caller.call("rkllm_set_chat_template",
              {{"system_prompt", ""}, {"prompt_prefix", "<|user|>"}, {"prompt_postfix", "\xE2\x86\x92"}});
  CHECK(library.texts == std::vector<std::string>{"", "<|user|>", "\xE2\x86\x92"});
  library.on_lora = [](RKLLMLoraAdapter* adapter) {
    CHECK(std::string(adapter->lora_adapter_path) == "a.rkllm");
    CHECK(adapter->scale == 1.0F);
  };
  caller.call("rkllm_load_lora", {{"lora_adapter", {{"lora_adapter_path", "a.rkllm"}, {"lora_adapter_name", "a"}}}});
}
