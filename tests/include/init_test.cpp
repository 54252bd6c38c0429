#include "fake_library.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/cpu_mask.hpp>

#include <bit>

using namespace rkllm_mcp;
using rkllm_mcp::test::Caller;
using rkllm_mcp::test::FakeLibrary;

namespace {

Json with(Json members) {
  members["model_path"] = "/models/a.rkllm";
  return {{"param", std::move(members)}};
}

}  // namespace

TEST_CASE("rkllm_init starts from the runtime's defaults, with is_async true and a defined CPU mask") {
  FakeLibrary library;
  Caller caller(library);
  CHECK(caller.call("rkllm_init", with({{"top_k", 5}})) == Json({{"status", 0}, {"handle", "llm-1"}}));
  CHECK(library.calls == std::vector<std::string>{"rkllm_createDefaultParam", "rkllm_init"});
  CHECK(library.model_path == "/models/a.rkllm");
  CHECK(library.param.top_k == 5);
  CHECK(library.param.temperature == 0.8F);
  CHECK(library.param.is_async);
  const long online = online_cpus();
  if (online != 4 && online != 8) CHECK(std::popcount(library.param.extend_param.enabled_cpus_mask) == 4);
  CHECK(library.callback.result_callback == &any_version::deliver_LLMResultCallback<v1_3_0::Abi>);
  CHECK(library.callback.tokenizer_callback == nullptr);
  CHECK(library.callback.embed_callback == nullptr);
  CHECK(library.callback.result_userdata == nullptr);
}

TEST_CASE("rkllm_init remembers what later calls need") {
  FakeLibrary library;
  Caller caller(library);
  caller.handle.native = nullptr;
  caller.handle.values.clear();
  caller.call("rkllm_init", with({{"is_async", false}, {"extend_param", {{"n_batch", 3}, {"use_cross_attn", true}}}}));
  CHECK(caller.handle.native == &library);
  CHECK(caller.handle.value("n_batch") == 3);
  CHECK(caller.handle.value("is_async") == 0);
  CHECK(caller.handle.value("use_cross_attn") == 1);
  CHECK_FALSE(caller.handle.value("vocab_size"));
}

TEST_CASE("the CPU mask follows from the number of CPUs, and the number from the mask") {
  FakeLibrary library;
  Caller caller(library);
  caller.call("rkllm_init", with({{"extend_param", {{"enabled_cpus_num", 3}}}}));
  CHECK(library.param.extend_param.enabled_cpus_mask == last_cpus(3, online_cpus()));
  caller.call("rkllm_init", with({{"extend_param", {{"enabled_cpus_mask", 0x30}}}}));
  CHECK(library.param.extend_param.enabled_cpus_num == 2);
  CHECK(caller.complaint("rkllm_init", with({{"extend_param", {{"enabled_cpus_mask", 7}, {"enabled_cpus_num", 4}}}})) ==
        "params.param.extend_param.enabled_cpus_mask: expected mask of 4 CPUs (enabled_cpus_num), found 7");
}

TEST_CASE("a field in the wrong place is told where it belongs") {
  FakeLibrary library;
  Caller caller(library);
  CHECK(caller.complaint("rkllm_init", {{"model_path", "m"}}) ==
        R"(params.model_path: unknown field; it belongs into "param": {"param":{"model_path":...}})");
  CHECK(caller.complaint("rkllm_init", with({{"n_batch", 2}})) ==
        R"(params.param.n_batch: unknown field; it belongs into "extend_param": {"extend_param":{"n_batch":...}})");
  CHECK(caller.complaint("rkllm_run", {{"prompt_input", "Hi"}}) ==
        R"(params.prompt_input: unknown field; it belongs into "rkllm_input": {"rkllm_input":{"prompt_input":...}})");
  CHECK(caller.complaint("rkllm_run", {{"prompt", "Hi"}}) ==
        R"(params.prompt: unknown field; did you mean "prompt_input" in "rkllm_input": )"
        R"({"rkllm_input":{"prompt_input":...}}?)");
  CHECK(caller.complaint("rkllm_run", {{"top_p", 1}}) ==
        R"(params.top_p: unknown field; it belongs into "rkllm_infer_params.sampling_params": )"
        R"({"rkllm_infer_params":{"sampling_params":{"top_p":...}}})");
  CHECK(caller.complaint("rkllm_run", {{"rkllm_input", {{"prompt", "Hi"}}}}) ==
        R"(params.rkllm_input.prompt: unknown field; did you mean "prompt_input"?; )"
        R"(it belongs into "multimodal_input": {"multimodal_input":{"prompt":...}})");
  CHECK(caller.complaint("rkllm_init", {{"params", Json::object()}}) ==
        R"(params.params: unknown field; did you mean "param"?)");
}

TEST_CASE("null for what may be absent is absence") {
  FakeLibrary library;
  Caller caller(library);
  CHECK_NOTHROW(caller.call("rkllm_init", with({{"top_k", nullptr}, {"extend_param", nullptr}})));
  CHECK(library.param.top_k == default_of(TypeTag<v1_3_0::RKLLMParam>{}).top_k);
  CHECK(caller.complaint("rkllm_init", {{"param", nullptr}}) ==
        "params.param: expected object, found null (it is required)");
}

TEST_CASE("a handle that is not made is an error, whatever the runtime returns") {
  FakeLibrary library;
  Caller caller(library);
  caller.handle.native = nullptr;
  library.status = -1;
  CHECK(caller.complaint("rkllm_init", with(Json::object())) == "rkllm_init returned -1");
  CHECK(caller.handle.native == nullptr);
  library.status = 0;
  library.made = nullptr;
  CHECK(caller.complaint("rkllm_init", with(Json::object())) == "rkllm_init reported success but gave no handle");
}

TEST_CASE("rkllm_createDefaultParam answers with every field but the reserved ones") {
  FakeLibrary library;
  Caller caller(library);
  Json defaults = caller.call("rkllm_createDefaultParam", Json::object());
  const Json mask = defaults.at("extend_param").at("enabled_cpus_mask");
  const long online = online_cpus();
  if (online != 4 && online != 8) CHECK(std::popcount(mask.get<unsigned>()) == 4);
  defaults["extend_param"]["enabled_cpus_mask"] = 0;
  CHECK(defaults.dump() ==
        R"({"model_path":null,"max_context_len":512,"max_new_tokens":512,"top_k":40,"n_keep":-1,"top_p":0.9,)"
        R"("temperature":0.8,"repeat_penalty":1.1,"frequency_penalty":0.0,"presence_penalty":0.0,"mirostat":0,)"
        R"("mirostat_tau":5.0,"mirostat_eta":0.1,"skip_special_token":true,"ignore_eos_token":false,"is_async":false,)"
        R"("extend_param":{"base_domain_id":0,"embed_flash":1,"enabled_cpus_num":4,"enabled_cpus_mask":0,"n_batch":1,)"
        R"("use_cross_attn":0}})");
}
