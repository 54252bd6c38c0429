// What is read into a struct and written again is the same. For every struct that travels.
#include "fake_library.hpp"
#include "support/catch.hpp"

#include <limits>
#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::v1_3_0;

namespace {

// Reads `text` as a T, and writes what was read.
template <class T>
Json round_trip(const Json& json, ArrayEncoding encoding = ArrayEncoding::kJson) {
  HandleRecord handle;
  handle.session = {{"embd_size", 2}, {"vocab_size", 100}, {"n_batch", 1}};
  const Json params = {{"value", json}};
  CallContext call{params, &handle, nullptr, encoding, {}};
  T value = default_of(TypeTag<T>{});
  Decoder decoder(call, "round_trip");
  decoder.structure("value", value, kRequired);
  decoder.finish();
  return encode(value, {encoding, &handle});
}

template <class T>
void check_round_trip(const char* text) {
  INFO(text);
  const Json json = Json::parse(text);
  CHECK(round_trip<T>(json) == json);
}

}  // namespace

TEST_CASE("every struct survives a round trip") {
  check_round_trip<RKLLMExtendParam>(
      R"({"base_domain_id":1,"embed_flash":0,"enabled_cpus_num":2,"enabled_cpus_mask":48,"n_batch":100,
          "use_cross_attn":1})");
  check_round_trip<RKLLMParam>(
      R"({"model_path":"x","max_context_len":4096,"max_new_tokens":1,"top_k":0,"n_keep":4,"top_p":0.3,
          "temperature":0.0,"repeat_penalty":1.25,"frequency_penalty":-2.0,"presence_penalty":2.0,"mirostat":2,
          "mirostat_tau":4.7,"mirostat_eta":0.01,"skip_special_token":false,"ignore_eos_token":true,"is_async":true,
          "extend_param":{"base_domain_id":0,"embed_flash":1,"enabled_cpus_num":1,"enabled_cpus_mask":128,"n_batch":1,
          "use_cross_attn":0}})");
  check_round_trip<RKLLMLoraAdapter>(R"({"lora_adapter_path":"p","lora_adapter_name":"n","scale":0.1})");
  check_round_trip<RKLLMEmbedInput>(R"({"embed":[0.1,-2.5,3.0,4.0],"n_tokens":2})");
  check_round_trip<RKLLMTokenInput>(R"({"input_ids":[0,99,7],"n_tokens":3})");
  check_round_trip<RKLLMMultiModalInput>(R"({"prompt":"text"})");
  check_round_trip<RKLLMMultiModalInput>(
      R"({"prompt":"text","image":{"image_embed":[1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0],"n_image_tokens":2,"n_image":2,
          "image_start":"<","image_end":"","image_content":"p","image_width":336,"image_height":4294967295},
          "video":{"video_embed":[1.0,2.0],"n_frame_tokens":1,"n_frame_per_video":1,"n_video":1,"video_start":"",
          "video_end":"","video_content":"p","frame_width":0,"frame_height":1}})");
  check_round_trip<RKLLMInput>(
      R"({"role":null,"enable_thinking":true,"input_type":"RKLLM_INPUT_PROMPT","prompt_input":"\u20ac"})");
  check_round_trip<RKLLMInput>(
      R"({"role":"tool","enable_thinking":false,"input_type":"RKLLM_INPUT_TOKEN",
          "token_input":{"input_ids":[1],"n_tokens":1}})");
  check_round_trip<RKLLMInput>(
      R"({"role":"user","enable_thinking":false,"input_type":"RKLLM_INPUT_EMBED",
          "embed_input":{"embed":[1.0,2.0],"n_tokens":1}})");
  check_round_trip<RKLLMInput>(
      R"({"role":"user","enable_thinking":false,"input_type":"RKLLM_INPUT_MULTIMODAL",
          "multimodal_input":{"prompt":"p"}})");
  check_round_trip<RKLLMLoraParam>(R"({"lora_adapter_name":"n"})");
  check_round_trip<RKLLMPromptCacheParam>(R"({"save_prompt_cache":1,"prompt_cache_path":null})");
  check_round_trip<RKLLMSamplingParam>(
      R"({"top_k":1,"top_p":1.0,"temperature":0.7,"repeat_penalty":1.0,"frequency_penalty":0.5,"presence_penalty":0.0,
          "mirostat":1,"mirostat_tau":3.0,"mirostat_eta":0.2})");
  check_round_trip<RKLLMInferParam>(
      R"({"mode":"RKLLM_INFER_GENERATE","lora_params":null,"prompt_cache_params":{"save_prompt_cache":0,
          "prompt_cache_path":"p"},"sampling_params":null,"keep_history":1,"max_new_tokens":5})");
  check_round_trip<RKLLMResultLastHiddenLayer>(R"({"hidden_states":[1.0,2.0],"embd_size":2,"num_tokens":1})");
  check_round_trip<RKLLMResultLogits>(R"({"logits":null,"vocab_size":0,"num_tokens":0})");
  check_round_trip<RKLLMPerfStat>(
      R"({"prefill_time_ms":0.5,"prefill_tokens":7,"generate_time_ms":100.25,"generate_tokens":-1,
          "memory_usage_mb":512.5})");
  check_round_trip<RKLLMResult>(
      R"({"text":null,"token_id":-1,"last_hidden_layer":{"hidden_states":null,"embd_size":0,"num_tokens":0},
          "logits":{"logits":[0.1,0.2],"vocab_size":2,"num_tokens":1},"perf":{"prefill_time_ms":0.0,
          "prefill_tokens":0,"generate_time_ms":0.0,"generate_tokens":0,"memory_usage_mb":0.0}})");
}

TEST_CASE("a size_t is as large as the machine's, and no larger") {
  const auto with_height = [](const std::string& height) {
    return Json::parse(
        R"({"prompt":"","image":{"image_embed":[1.0,2.0],"n_image_tokens":1,"n_image":1,"image_start":"","image_end":"",
            "image_content":"p","image_width":0,"image_height":)" +
        height + "}}");
  };
  const std::string largest = std::to_string(std::numeric_limits<std::size_t>::max());
  CHECK(round_trip<RKLLMMultiModalInput>(with_height(largest)) == with_height(largest));
  CHECK_THROWS_AS(round_trip<RKLLMMultiModalInput>(with_height("1" + largest)), InvalidParams);
}

TEST_CASE("a struct whose arrays C does not measure keeps the arrays that it does") {
  const Json json = {
      {"encoder_k_cache", {1, 2}}, {"encoder_v_cache", {1, 2}}, {"encoder_mask", {0.0, 1.0}}, {"encoder_pos", {0, 1}}};
  CHECK(round_trip<RKLLMCrossAttnParam>(json) ==
        Json({{"encoder_mask", {0.0, 1.0}}, {"num_tokens", 2}, {"encoder_pos", {0, 1}}}));
}

TEST_CASE("flags are read as booleans too, and written as the integers that they are") {
  CHECK(round_trip<RKLLMPromptCacheParam>({{"save_prompt_cache", true}}).at("save_prompt_cache") == 1);
}

TEST_CASE("arrays of floats are written in the encoding that was asked for") {
  const Json json = {{"embed", {1.0, 2.0}}};
  const Json written = round_trip<RKLLMEmbedInput>(json, ArrayEncoding::kBase64);
  CHECK(written.at("embed") == Json({{"base64", "AACAPwAAAEA="}, {"dtype", "float32"}}));
  CHECK(round_trip<RKLLMEmbedInput>(written).at("embed") == json.at("embed"));
}

TEST_CASE("defaults in the code are those that the schema tells") {
  const Json schema = Json::parse(kInput_rkllm_init).at("properties").at("param").at("properties");
  const Json defaults = encode(default_of(TypeTag<RKLLMParam>{}));
  for (const auto& [name, property] : schema.items()) {
    INFO(name);
    if (!property.contains("default") || name == "is_async") continue;  // true on the wire
    CHECK(property.at("default") == defaults.at(name));
  }
  CHECK(schema.at("is_async").at("default") == true);
}
