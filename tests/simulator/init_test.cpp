// Sections "rkllm_createDefaultParam" and "rkllm_init" of the runtime's contract.
#include "simulated.hpp"

#include <chrono>

using namespace simulated;

namespace {

// What rkllm_init returns; a handle that was made is destroyed.
int init(const std::string& path, const Change& change = {}) {
  RKLLMParam param = param_for(path);
  if (change) change(param);
  RKLLMCallback callback{};
  LLMHandle handle = nullptr;
  const int status = rkllm_init(&handle, &param, &callback);
  if (status == 0) rkllm_destroy(handle);
  return status;
}

}  // namespace

TEST_CASE("the default parameters are those of 1.3.0") {
  const RKLLMParam param = rkllm_createDefaultParam();
  CHECK(param.model_path == nullptr);
  CHECK(param.max_context_len == 512);
  CHECK(param.max_new_tokens == 512);
  CHECK(param.top_k == 40);
  CHECK(param.n_keep == -1);
  CHECK(param.top_p == 0.9F);
  CHECK(param.temperature == 0.8F);
  CHECK(param.repeat_penalty == 1.1F);
  CHECK(param.frequency_penalty == 0);
  CHECK(param.presence_penalty == 0);
  CHECK(param.mirostat == 0);
  CHECK(param.mirostat_tau == 5.0F);
  CHECK(param.mirostat_eta == 0.1F);
  CHECK(param.skip_special_token);
  CHECK_FALSE(param.ignore_eos_token);
  CHECK_FALSE(param.is_async);
  CHECK(param.extend_param.base_domain_id == 0);
  CHECK(param.extend_param.embed_flash == 1);
  CHECK(param.extend_param.enabled_cpus_num == 4);
  CHECK(param.extend_param.n_batch == 1);
  CHECK(param.extend_param.use_cross_attn == 0);
  for (const auto byte : param.extend_param.reserved) CHECK(byte == 0);
}

TEST_CASE("the default CPU mask is set for 8 and 4 CPUs, and is garbage for any other number") {
  const auto mask = [](const char* cpus) {
    const Environment pretended("RKLLM_SIM_CPUS", cpus);
    return rkllm_createDefaultParam().extend_param.enabled_cpus_mask;
  };
  CHECK(mask("8") == 0xF0);
  CHECK(mask("4") == 0x0F);
  CHECK(mask("2") == 0xDEADBEEF);
  CHECK(mask("6") == 0xDEADBEEF);

  const std::string here = std::to_string(sysconf(_SC_NPROCESSORS_ONLN));
  CHECK(rkllm_createDefaultParam().extend_param.enabled_cpus_mask == mask(here.c_str()));
}

TEST_CASE("a failing init leaves the handle untouched") {
  const std::string path = "/no/such/file";
  RKLLMParam param = param_for(path);
  RKLLMCallback callback{};
  int mark = 0;
  LLMHandle handle = &mark;
  CHECK(rkllm_init(&handle, &param, &callback) == -1);
  CHECK(handle == &mark);
}

TEST_CASE("init survives a NULL handle pointer if it fails") {
  const std::string path = "/no/such/file";
  RKLLMParam param = param_for(path);
  CHECK(rkllm_init(nullptr, &param, nullptr) == -1);
}

TEST_CASE("what is not a model fails init") {
  const Directory directory;
  CHECK(init("/no/such/file") == -1);
  CHECK(init("/tmp") == -1);
  CHECK(init(directory.write("empty.json", "")) == -1);
  CHECK(init(directory.write("text.json", "not a model")) == -1);
  CHECK(init(directory.write("other.json", "{\"name\": \"SIMULATED\"}")) == -1);
  CHECK(init(directory.model({{"no_such_field", 1}})) == -1);
  CHECK(init(directory.model({{"decode_tokens_per_s", -1}})) == -1);
  CHECK(init(directory.model({{"vocab_size", 10}})) == -1);
  CHECK(init(directory.model({{"name", "real"}})) == -1);
}

TEST_CASE("every model that is shipped can be loaded") {
  const std::string name = GENERATE("fast", "rk3588-1.5b", "rk3588-0.5b-think", "rk3588-qwen3-0.6b");
  CHECK(init(model(name)) == 0);
}

TEST_CASE("the platform must be known and that of the model") {
  const Directory directory;
  const auto on = [](const char* platform, const std::string& path) {
    const Environment pretended("RKLLM_SIM_PLATFORM", platform);
    return init(path);
  };
  CHECK(on("RK3588", model("rk3588-1.5b")) == 0);
  CHECK(on("RK3576", model("rk3588-1.5b")) == -1);
  for (const char* platform : {"RK3588", "RK3576", "RK3562", "RV1126B"}) CHECK(on(platform, model("fast")) == 0);
  CHECK(on("RK9999", model("fast")) == -1);
  CHECK(on("none", model("fast")) == -1);
}

TEST_CASE("without an NPU device init fails after about 100 ms") {
  const Environment pretended("RKLLM_SIM_PLATFORM", "none");
  const auto begun = std::chrono::steady_clock::now();
  CHECK(init(model("fast")) == -1);
  CHECK(std::chrono::steady_clock::now() - begun >= std::chrono::milliseconds(100));
}

TEST_CASE("a driver older than 0.9.7 is warned about, and init goes on") {
  const auto warns = [](const char* version) {
    const Environment pretended("RKLLM_SIM_DRIVER", version);
    int status = -1;
    const Written written = written_by([&] { status = init(model("fast")); });
    CHECK(status == 0);
    return contains(written.out, "W rkllm: the NPU driver");
  };
  CHECK(warns("0.9.5"));
  CHECK(warns("0.9.6"));
  CHECK_FALSE(warns("0.9.7"));
  CHECK_FALSE(warns("0.9.8"));
}

TEST_CASE("a model of a newer toolkit fails init, one that names no toolkit is warned about") {
  const Directory directory;
  CHECK(init(directory.model({{"toolkit_version", "1.3.1"}})) == -1);
  CHECK(init(directory.model({{"toolkit_version", "1.2.3"}})) == 0);
  const std::string nameless = directory.model({{"toolkit_version", ""}});
  int status = -1;
  const Written written = written_by([&] { status = init(nameless); });
  CHECK(status == 0);
  CHECK(contains(written.out, "W rkllm: the model does not say which toolkit made it"));
}

TEST_CASE("init checks device, platform, driver, n_keep, n_batch, model, its platform, its context, loading, CPUs") {
  // Everything is wrong; what init complains about is mended one by one.
  const Directory directory;
  std::string path = "/no/such/file";
  RKLLMParam change = rkllm_createDefaultParam();
  change.n_keep = change.max_context_len = 100'000;
  change.extend_param.n_batch = 101;
  change.extend_param.enabled_cpus_mask = 0x01;
  const Environment driver("RKLLM_SIM_DRIVER", "0.9.5");
  const auto complaint = [&](const char* platform) {
    const Environment pretended("RKLLM_SIM_PLATFORM", platform);
    const Written written = written_by([&] {
      const auto apply = [&](RKLLMParam& param) {
        const char* model_path = param.model_path;
        param = change;
        param.model_path = model_path;
      };
      init(path, apply);
    });
    return (contains(written.out, "NPU driver") ? "(old driver) " : "") + written.err;
  };
  const std::string batch = "(old driver) E rkllm: n_batch is not in 1 to 100\nE rkllm: rkllm_init: ";
  CHECK(complaint("none") == "E rkllm: rkllm_init: no NPU device (RKLLM_SIM_PLATFORM=none)\n");
  CHECK(complaint("RK9999") == "E rkllm: rkllm_init: unknown platform RK9999\n");
  CHECK(complaint("RK3588") == "(old driver) E rkllm: rkllm_init: n_keep must be less than max_context_len\n");
  change.n_keep = -1;
  CHECK(complaint("RK3588") == batch + "no such file\n");
  path = directory.model({{"platform", "RK3576"}, {"faults", {{{"when", "init"}, {"what", "fail"}}}}});
  CHECK(complaint("RK3588") == batch + "the model was made for RK3576, this is RK3588\n");
  CHECK(complaint("RK3576") == batch + "max_context_len is above the model's limit of 16384\n");
  change.max_context_len = 512;
  CHECK(complaint("RK3576") == batch + "the model file asks for a failure\n");
  path = directory.model({{"platform", "RK3576"}});
  CHECK(contains(complaint("RK3576"), batch + "enabled_cpus_mask names 1 CPUs but enabled_cpus_num is 4"));
  change.extend_param.enabled_cpus_mask = 0xF0;
  CHECK(complaint("RK3576") == "(old driver) E rkllm: n_batch is not in 1 to 100\n");
}

TEST_CASE("max_context_len above the model's limit fails init") {
  CHECK(init(model("fast"), [](RKLLMParam& param) { param.max_context_len = 16384; }) == 0);
  CHECK(init(model("fast"), [](RKLLMParam& param) { param.max_context_len = 16385; }) == -1);
}

TEST_CASE("n_keep must be below max_context_len") {
  CHECK(init(model("fast"), [](RKLLMParam& param) { param.n_keep = 512; }) == -1);
  CHECK(init(model("fast"), [](RKLLMParam& param) { param.n_keep = 511; }) == 0);
  CHECK(init(model("fast"), [](RKLLMParam& param) { param.max_context_len = -1; }) == -1);
}

TEST_CASE("n_batch out of range is logged, and init goes on") {
  CHECK(init(model("fast"), [](RKLLMParam& param) { param.extend_param.n_batch = 101; }) == 0);
  CHECK(init(model("fast"), [](RKLLMParam& param) { param.extend_param.n_batch = 0; }) == 0);
}

TEST_CASE("enabled_cpus_num must match the mask and suffice for the model's NPU cores") {
  const auto with = [](int number, unsigned mask) {
    return init(model("rk3588-1.5b"), [=](RKLLMParam& param) {
      param.extend_param.enabled_cpus_num = static_cast<std::int8_t>(number);
      param.extend_param.enabled_cpus_mask = mask;
    });
  };
  CHECK(with(4, 0xF0) == 0);
  CHECK(with(3, 0x07) == 0);
  CHECK(with(2, 0x03) == -1);
  CHECK(with(4, 0x07) == -1);
  CHECK(with(0, 0x00) == -1);
  CHECK(with(9, 0x1FF) == -1);
  CHECK(with(4, 0xF00) == -1);  // CPUs that no board has
}

TEST_CASE("RK3562 takes 1 to 4 CPUs, 0 to 3") {
  const Environment pretended("RKLLM_SIM_PLATFORM", "RK3562");
  const auto with = [](int number, unsigned mask) {
    return init(model("fast"), [=](RKLLMParam& param) {
      param.extend_param.enabled_cpus_num = static_cast<std::int8_t>(number);
      param.extend_param.enabled_cpus_mask = mask;
    });
  };
  CHECK(with(4, 0x0F) == 0);
  CHECK(with(4, 0xF0) == -1);
  CHECK(with(5, 0x1F) == -1);
}

TEST_CASE("NULL callbacks are accepted, and runs are silent") {
  const std::string path = model("fast");
  RKLLMParam param = param_for(path);
  RKLLMCallback nobody{};
  RKLLMCallback* callback = GENERATE(false, true) ? &nobody : nullptr;
  LLMHandle handle = nullptr;
  REQUIRE(rkllm_init(&handle, &param, callback) == 0);
  RKLLMInput input = prompt("Hello");
  RKLLMInferParam params{};
  CHECK(rkllm_run(handle, &input, &params, nullptr) == 0);
  CHECK(rkllm_destroy(handle) == 0);
}

TEST_CASE("parameters and path may be overwritten after init") {
  std::string path = model("fast");
  RKLLMParam param = param_for(path);
  RKLLMCallback callback{};
  LLMHandle handle = nullptr;
  REQUIRE(rkllm_init(&handle, &param, &callback) == 0);
  path.assign(path.size(), 'x');
  param = {};
  RKLLMInput input = prompt("Hello");
  RKLLMInferParam params{};
  CHECK(rkllm_run(handle, &input, &params, nullptr) == 0);
  CHECK(rkllm_destroy(handle) == 0);
}

TEST_CASE("a model file can ask for error lines in what succeeds") {
  const Directory directory;
  const std::string line = "E rkllm: the model file asks for an error line\n";
  const Json faults = {{{"when", "init"}, {"what", "log"}}, {{"when", 2}, {"what", "log"}}};
  const std::string path = directory.model({{"faults", faults}});
  std::optional<Llm> llm;
  CHECK(written_by([&] { llm.emplace(path); }).err == line);
  CHECK(written_by([&] { llm->run("Hello", infer(3)); }).err == line);
  CHECK(llm->token_count() == 3);
  CHECK(llm->finished());
}

TEST_CASE("a model file can ask for init to fail") {
  const Directory directory;
  CHECK(init(directory.model({{"faults", {{{"when", "init"}, {"what", "fail"}}}}})) == -1);
}

TEST_CASE("a model without tokenizer or embeddings needs the callback for it") {
  const Directory directory;
  CHECK(init(directory.model({{"tokenizer", false}})) == -1);
  CHECK(init(directory.model({{"embeddings", false}})) == -1);
}
