// LoRA and cross attention: sections 15 and 16 of what is known about the runtime.
#include "simulated.hpp"

using namespace simulated;

TEST_CASE("a LoRA adapter must exist, and its name must be free") {
  const Directory directory;
  const std::string path = directory.write("lora.json", R"({"rkllm_simulated_lora": 1})");
  Llm llm;
  RKLLMLoraAdapter adapter{path.c_str(), "poet", 1.0F};
  CHECK(rkllm_load_lora(llm.handle, &adapter) == 0);
  CHECK(rkllm_load_lora(llm.handle, &adapter) == -1);
  adapter = {"/no/such/file", "other", 1.0F};
  CHECK(rkllm_load_lora(llm.handle, &adapter) == -1);
}

TEST_CASE("a file that is no adapter is accepted by load_lora") {
  Llm llm;
  const std::string path = model("fast");
  RKLLMLoraAdapter adapter{path.c_str(), "bad", 1.0F};
  CHECK(rkllm_load_lora(llm.handle, &adapter) == 0);
}

TEST_CASE("a run selects an adapter by name, and fails without a callback if there is none of that name") {
  const Directory directory;
  const std::string path = directory.write("lora.json", R"({"rkllm_simulated_lora": 1})");
  Llm llm;
  REQUIRE(llm.run("Hello") == 0);
  const std::string bare = llm.text();
  RKLLMLoraAdapter adapter{path.c_str(), "poet", 1.0F};
  REQUIRE(rkllm_load_lora(llm.handle, &adapter) == 0);
  RKLLMLoraParam lora{"poet"};
  RKLLMInferParam params{};
  params.lora_params = &lora;
  REQUIRE(llm.run("Hello", params) == 0);
  CHECK(llm.text() != bare);
  lora.lora_adapter_name = "nobody";
  CHECK(llm.run("Hello", params) == -1);
  CHECK(llm.events.empty());
  REQUIRE(llm.run("Hello") == 0);
  CHECK(llm.text() == bare);
}

TEST_CASE("several LoRA adapters may be loaded, and each answers differently") {
  const Directory directory;
  const std::string path = directory.write("lora.json", R"({"rkllm_simulated_lora": 1})");
  Llm llm;
  std::vector<std::string> texts;
  for (const char* name : {"poet", "lawyer"}) {
    RKLLMLoraAdapter adapter{path.c_str(), name, 1.0F};
    REQUIRE(rkllm_load_lora(llm.handle, &adapter) == 0);
  }
  for (const char* name : {"poet", "lawyer", "poet"}) {
    RKLLMLoraParam lora{name};
    RKLLMInferParam params{};
    params.lora_params = &lora;
    REQUIRE(llm.run("Hello", params) == 0);
    texts.push_back(llm.text());
  }
  CHECK(texts[0] != texts[1]);
  CHECK(texts[0] == texts[2]);
}

TEST_CASE("cross attention needs use_cross_attn, a model for it and every pointer") {
  const Directory directory;
  const std::string path = directory.model({{"cross_attention", true}});
  const Change use = [](RKLLMParam& param) { param.extend_param.use_cross_attn = 1; };
  float values[4] = {};
  int32_t positions[4] = {};
  RKLLMCrossAttnParam complete{values, values, values, positions, 4};

  Llm off(path);
  CHECK(rkllm_set_cross_attn_params(off.handle, &complete) == -1);
  Llm ordinary(model("fast"), use);
  CHECK(rkllm_set_cross_attn_params(ordinary.handle, &complete) == -1);
  Llm llm(path, use);
  CHECK(rkllm_set_cross_attn_params(llm.handle, nullptr) == -1);
  for (int missing = 0; missing < 4; ++missing) {
    RKLLMCrossAttnParam incomplete = complete;
    if (missing == 0) incomplete.encoder_k_cache = nullptr;
    if (missing == 1) incomplete.encoder_v_cache = nullptr;
    if (missing == 2) incomplete.encoder_mask = nullptr;
    if (missing == 3) incomplete.encoder_pos = nullptr;
    CHECK(rkllm_set_cross_attn_params(llm.handle, &incomplete) == -1);
  }

  CHECK(llm.run("Hello") == -1);
  REQUIRE(llm.events.size() == 1);
  CHECK(llm.last().state == RKLLM_RUN_ERROR);

  CHECK(rkllm_set_cross_attn_params(llm.handle, &complete) == 0);
  CHECK(llm.run("Hello") == 0);
}
