// Section "logging" of the runtime's contract: which lines there are, at which level, and where they go.
#include "simulated.hpp"

using namespace simulated;

namespace {

// What a handle writes from init to the end of one run.
Written written_at(const char* level, const std::string& path = model("fast"), const Change& change = {}) {
  const Environment set("RKLLM_LOG_LEVEL", level);
  return written_by([&] {
    RKLLMParam param = param_for(path);
    if (change) change(param);
    LLMHandle handle = nullptr;
    if (rkllm_init(&handle, &param, nullptr) != 0) return;
    RKLLMInput input = prompt("Tell me a secret");
    RKLLMInferParam params = infer(4);
    rkllm_run(handle, &input, &params, nullptr);
    rkllm_destroy(handle);
  });
}

}  // namespace

TEST_CASE("version, loading, model and CPUs are on stdout even at level 0") {
  const Written written = written_at("0");
  CHECK(written.out.find("I rkllm: RKLLM SDK (version: 1.3.0 | SIMULATED") == 0);
  CHECK(contains(written.out, "I rkllm: loading the simulated model "));
  CHECK(contains(written.out, "I rkllm: model: SIMULATED fast"));
  CHECK(contains(written.out, "I rkllm: enabled CPUs: 0 1 2 3\n"));
  CHECK(written.err.empty());
}

TEST_CASE("an unset level is level 0") {
  Written written = written_by([] { const Llm llm; });
  CHECK(contains(written.out, "I rkllm: "));
  CHECK_FALSE(contains(written_at("0").out, "secret"));
}

TEST_CASE("warnings go to stdout, errors to stderr") {
  const Environment driver("RKLLM_SIM_DRIVER", "0.9.5");
  const Written warned = written_at("0");
  CHECK(contains(warned.out, "W rkllm: "));
  CHECK(warned.err.empty());
  const Written failed = written_at("0", "/no/such/file");
  CHECK(failed.err == "E rkllm: rkllm_init: no such file\n");
  CHECK_FALSE(contains(failed.out, "E rkllm"));
}

TEST_CASE("level 1 adds the figures of each run") {
  CHECK_FALSE(contains(written_at("0").out, "prefill: "));
  const std::string out = written_at("1").out;
  CHECK(contains(out, "I rkllm: prefill: "));
  CHECK(contains(out, "I rkllm: generate: 3 tokens in "));
  CHECK(contains(out, "I rkllm: peak memory: "));
  CHECK_FALSE(contains(out, "secret"));
}

TEST_CASE("levels 2 and 3 add parameters, the whole prompt, its tokens and the cache") {
  const char* level = GENERATE("2", "3");
  const std::string out = written_at(level).out;
  CHECK(contains(out, "I rkllm: max_new_tokens 512, n_keep -1"));
  CHECK(contains(out, "I rkllm: prompt: <|im_start|>user\nTell me a secret<|im_end|>"));
  CHECK(contains(out, "I rkllm: tokens: 1 "));
  CHECK(contains(out, "tokens are in the cache"));
  CHECK(contains(out, "current kv cache size: "));
}

TEST_CASE("an empty input is warned about") {
  Llm llm;
  CHECK(contains(written_by([&] { llm.run(prompt(nullptr)); }).out, "W rkllm: the input is empty"));
}

TEST_CASE("a mask with a CPU that the board lacks gives a bare line on stdout with each step") {
  const Environment cpus("RKLLM_SIM_CPUS", "2");
  const std::string out = written_at("0").out;
  std::size_t lines = 0;
  for (auto at = out.find("\ncannot set the CPU"); at != std::string::npos;
       at = out.find("\ncannot set the CPU", at + 1))
    ++lines;
  CHECK(lines == 3);
  const Change one = [](RKLLMParam& param) {
    param.extend_param.enabled_cpus_num = 1;
    param.extend_param.enabled_cpus_mask = CPU1;
  };
  CHECK_FALSE(contains(written_at("0", model("fast"), one).out, "cannot set the CPU"));
}

TEST_CASE("everything says that it is simulated: banner, model and figures") {
  CHECK(contains(written_at("0").out, "SIMULATED"));
  const std::string name = GENERATE("fast", "rk3588-1.5b", "rk3588-0.5b-think", "rk3588-qwen3-0.6b");
  CHECK(contains(read(model(name)), "\"name\": \"SIMULATED " + name + "\""));
  CHECK(contains(written_at("1").out, " ms (SIMULATED)"));
}
