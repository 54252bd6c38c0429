// What the runtime does not survive, or silently makes nonsense of, is refused with its path, before it is called.
#include "fake_library.hpp"
#include "support/catch.hpp"

#include <tuple>

using namespace rkllm_mcp;
using rkllm_mcp::test::Caller;
using rkllm_mcp::test::FakeLibrary;

namespace {

using Case = std::tuple<const char*, const char*, const char*>;  // method, params, how the complaint begins

const Case kCases[] = {
    // NULL where the runtime crashes or aborts
    {"rkllm_init", R"({})", "params.param: expected object, found nothing"},
    {"rkllm_init", R"({"param":null})", "params.param: expected object, found null"},
    {"rkllm_init", R"({"param":{}})", "params.param.model_path: expected string, found nothing"},
    {"rkllm_init", R"({"param":{"model_path":null}})", "params.param.model_path: expected string, found null"},
    {"rkllm_init", R"({"param":{"model_path":""}})", "params.param.model_path: expected string that is not empty"},
    {"rkllm_run", R"({})", "params.rkllm_input: expected object or array of objects, found nothing"},
    {"rkllm_run", R"({"rkllm_input":null})", "params.rkllm_input: expected object or array of objects, found null"},
    {"rkllm_run", R"({"rkllm_input":{}})", "params.rkllm_input.prompt_input: expected string, found nothing"},
    {"rkllm_run", R"({"rkllm_input":{"prompt_input":null}})", "params.rkllm_input.prompt_input: expected string"},
    {"rkllm_run", R"({"rkllm_input":{"prompt_input":"x"},"rkllm_infer_params":{"lora_params":{}}})",
     "params.rkllm_infer_params.lora_params.lora_adapter_name: expected string, found nothing"},
    {"rkllm_load_lora", R"({})", "params.lora_adapter: expected object, found nothing"},
    {"rkllm_load_lora", R"({"lora_adapter":{"lora_adapter_path":"x"}})",
     "params.lora_adapter.lora_adapter_name: expected string, found nothing"},
    {"rkllm_load_prompt_cache", R"({})", "params.prompt_cache_path: expected string, found nothing"},
    {"rkllm_set_chat_template", R"({"system_prompt":"","prompt_prefix":""})",
     "params.prompt_postfix: expected string, found nothing"},
    {"rkllm_set_function_tools", R"({"system_prompt":"","tools":"[]","tool_response_str":""})",
     "params.tool_response_str: expected string that is not empty"},
    // texts that C would cut short
    {"rkllm_run", R"({"rkllm_input":{"prompt_input":"a\u0000b"}})",
     "params.rkllm_input.prompt_input: expected string without U+0000"},
    // token ids
    {"rkllm_run", R"({"rkllm_input":{"input_type":1,"token_input":{"input_ids":[]}}})",
     "params.rkllm_input.token_input.input_ids: expected array that is not empty"},
    {"rkllm_run", R"({"rkllm_input":{"input_type":1,"token_input":{"input_ids":[-1]}}})",
     "params.rkllm_input.token_input.input_ids[0]: expected integer from 0"},
    {"rkllm_run", R"({"rkllm_input":{"input_type":1,"token_input":{"input_ids":[5,100]}}})",
     "params.rkllm_input.token_input.input_ids[1]: expected integer below 100 (vocab_size), found 100"},
    {"rkllm_run", R"({"rkllm_input":{"input_type":1,"token_input":{"input_ids":[5],"n_tokens":2}}})",
     "params.rkllm_input.token_input.input_ids: expected 2 (n_tokens) values, found 1"},
    // embeddings
    {"rkllm_run", R"({"rkllm_input":{"input_type":2,"embed_input":{"embed":[1,2,3]}}})",
     "params.rkllm_input.embed_input.embed: expected n_tokens * 4 (embd_size) values, found 3"},
    {"rkllm_run", R"({"rkllm_input":{"input_type":2,"embed_input":{"embed":[1,2,3,4],"n_tokens":9}}})",
     "params.rkllm_input.embed_input.embed: expected 9 (n_tokens) * 4 (embd_size) values, found 4"},
    {"rkllm_run", R"({"rkllm_input":{"input_type":3,"multimodal_input":{"prompt":"<image>","image":{}}}})",
     "params.rkllm_input.multimodal_input.image.image_embed: expected array, found nothing"},
    {"rkllm_run",
     R"({"rkllm_input":{"input_type":3,"multimodal_input":{"prompt":"<image>","image":{"image_embed":[1,2,3,4]}}}})",
     "params.rkllm_input.multimodal_input.image.n_image_tokens: expected integer, found nothing"},
    {"rkllm_run",
     R"({"rkllm_input":{"input_type":3,"multimodal_input":{"prompt":"<video>","video":{"video_embed":[1,2,3,4],
        "n_frame_per_video":2,"n_frame_tokens":1,"video_start":"","video_end":"","video_content":"x"}}}})",
     "params.rkllm_input.multimodal_input.video.video_embed: expected n_video * 1 (n_frame_tokens) * 2 "
     "(n_frame_per_video) * 4 (embd_size) values, found 4"},
    // unions
    {"rkllm_run", R"({"rkllm_input":{"prompt_input":"x","token_input":{"input_ids":[1]}}})",
     "params.rkllm_input.token_input: belongs to input_type RKLLM_INPUT_TOKEN, but input_type is RKLLM_INPUT_PROMPT"},
    {"rkllm_run", R"({"rkllm_input":{"input_type":"RKLLM_INPUT_TOKEN","prompt_input":"x"}})",
     "params.rkllm_input.prompt_input: belongs to input_type RKLLM_INPUT_PROMPT, but input_type is RKLLM_INPUT_TOKEN"},
    {"rkllm_run", R"({"rkllm_input":{"input_type":"RKLLM_INPUT_EMBED"}})",
     "params.rkllm_input.embed_input: expected object, found nothing"},
    // ranges
    {"rkllm_init", R"({"param":{"model_path":"x","max_context_len":0}})",
     "params.param.max_context_len: expected integer"},
    {"rkllm_init", R"({"param":{"model_path":"x","max_new_tokens":0}})",
     "params.param.max_new_tokens: expected integer"},
    {"rkllm_init", R"({"param":{"model_path":"x","top_p":1.5}})",
     "params.param.top_p: expected number from 0.0 to 1.0"},
    {"rkllm_init", R"({"param":{"model_path":"x","temperature":1e39}})", "params.param.temperature: expected number"},
    {"rkllm_init", R"({"param":{"model_path":"x","extend_param":{"n_batch":101}}})",
     "params.param.extend_param.n_batch: expected integer from 1 to 100, found 101"},
    {"rkllm_init", R"({"param":{"model_path":"x","extend_param":{"embed_flash":2}}})",
     "params.param.extend_param.embed_flash: expected integer from 0 to 1, found 2"},
    {"rkllm_init", R"({"param":{"model_path":"x","extend_param":{"enabled_cpus_num":9}}})",
     "params.param.extend_param.enabled_cpus_num: expected integer from 1 to 8, found 9"},
    // not on the wire
    {"rkllm_init", R"({"param":{"model_path":"x"},"callback":{}})", "params.callback: unknown field"},
    {"rkllm_init", R"({"param":{"model_path":"x","extend_param":{"reserved":[0]}}})",
     "params.param.extend_param.reserved: unknown field"},
    {"rkllm_run", R"({"rkllm_input":{"prompt_input":"x"},"userdata":1})", "params.userdata: unknown field"},
    {"rkllm_get_kv_cache_size", R"({"cache_sizes":[1]})", "params.cache_sizes: unknown field"},
    {"rkllm_abort", R"({"handle":1})", "params.handle: expected string, found 1"},
};

}  // namespace

TEST_CASE("what the runtime would not survive is refused with its path") {
  for (const auto& [method, params, expected] : kCases) {
    FakeLibrary library;
    Caller caller(library);
    INFO(method << " " << params);
    const std::string complaint = caller.complaint(method, Json::parse(params));
    INFO(complaint);
    CHECK(complaint.compare(0, std::string(expected).size(), expected) == 0);
    for (const std::string& call : library.calls) CHECK(call == "rkllm_createDefaultParam");
  }
}

TEST_CASE("ids are refused as long as the vocabulary is not known, with what makes it known") {
  FakeLibrary library;
  Caller caller(library);
  caller.handle.values.erase("vocab_size");
  CHECK(caller.complaint("rkllm_run", {{"rkllm_input", {{"input_type", 1}, {"token_input", {{"input_ids", {1}}}}}}}) ==
        "rkllm_run was not called: vocab_size is not known yet for handle llm-1; one run with mode "
        "RKLLM_INFER_GET_LOGITS and max_new_tokens 1 learns it (from runtime 1.2.0 on)");
  caller.handle.values.erase("embd_size");
  CHECK(caller.complaint("rkllm_run", {{"rkllm_input", {{"input_type", 2}, {"embed_input", {{"embed", {1}}}}}}}) ==
        "rkllm_run was not called: embd_size is not known yet for handle llm-1; one run with mode "
        "RKLLM_INFER_GET_LAST_HIDDEN_LAYER learns it");
}
