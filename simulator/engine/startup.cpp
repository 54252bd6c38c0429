// What rkllm_init checks before there is a handle (instance.hpp).
#include "engine/instance.hpp"

#include "engine/contract.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace rkllm_mcp::sim {
namespace {

constexpr std::array<std::string_view, 4> kPlatforms{"RK3588", "RK3576", "RK3562", "RV1126B"};

std::string environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

void refuse_if(bool refused, const std::string& reason) {
  if (refused) throw std::runtime_error(reason);
}

std::string check_platform() {
  std::string platform = environment("RKLLM_SIM_PLATFORM", "RK3588");
  if (platform == "none") {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the vendor's library tries for about that long
    throw std::runtime_error("no NPU device (RKLLM_SIM_PLATFORM=none)");
  }
  refuse_if(std::find(kPlatforms.begin(), kPlatforms.end(), platform) == kPlatforms.end(),
            "unknown platform " + platform);
  return platform;
}

std::array<int, 3> version_from(const std::string& text) {
  std::array<int, 3> version{};
  std::sscanf(text.c_str(), "%d.%d.%d", &version[0], &version[1], &version[2]);
  return version;
}

void check_driver(const Log& log) {
  const std::string driver = environment("RKLLM_SIM_DRIVER", "0.9.8");
  if (version_from(driver) < std::array{0, 9, 7}) log.warning("the NPU driver " + driver + " is older than 0.9.7");
}

void check_model(const ModelFile& model, const Options& options, std::string_view platform, const Log& log) {
  const std::string toolkit = model.toolkit_version.value_or(options.runtime_version);
  if (toolkit.empty()) log.warning("the model does not say which toolkit made it");
  refuse_if(
      version_from(toolkit) > version_from(options.runtime_version),
      "the runtime " + options.runtime_version + " is older than the toolkit " + toolkit + " that made the model");
  refuse_if(!model.platform.empty() && model.platform != platform,
            "the model was made for " + model.platform + ", this is " + std::string(platform));
  refuse_if(options.max_context_len > model.max_context_len,
            "max_context_len is above the model's limit of " + std::to_string(model.max_context_len));
}

void check_cpus(const Options& options, const ModelFile& model, std::string_view platform) {
  const int most = platform == "RK3562" ? 4 : 8;
  const int number = options.enabled_cpus_num;
  refuse_if(number < 1 || number > most,
            "enabled_cpus_num is " + std::to_string(number) + ", not 1 to " + std::to_string(most));
  refuse_if(std::popcount(options.enabled_cpus_mask) != number,
            "enabled_cpus_mask names " + std::to_string(std::popcount(options.enabled_cpus_mask)) +
                " CPUs but enabled_cpus_num is " + std::to_string(number) +
                " (rkllm_createDefaultParam sets the mask only where 4 or 8 CPUs are online)");
  refuse_if(options.enabled_cpus_mask >> most != 0, "enabled_cpus_mask names a CPU above " + std::to_string(most - 1));
  refuse_if(number < model.npu_cores, "enabled_cpus_num is " + std::to_string(number) + ", below the " +
                                          std::to_string(model.npu_cores) + " NPU cores of the model");
}

void log_parameters(const Options& options, const Log& log) {
  std::string cpus;
  for (std::uint32_t cpu = 0; cpu < 32; ++cpu) {
    if ((options.enabled_cpus_mask >> cpu & 1) != 0) cpus += " " + std::to_string(cpu);
  }
  log.info("enabled CPUs:" + cpus);
  if (!log.shows(Detail::kPrompts)) return;
  const Sampling& sampling = options.sampling;
  log.info("max_new_tokens " + std::to_string(options.max_new_tokens) + ", n_keep " + std::to_string(options.n_keep) +
           ", n_batch " + std::to_string(options.n_batch) + ", top_k " + std::to_string(sampling.top_k) + ", top_p " +
           std::to_string(sampling.top_p) + ", temperature " + std::to_string(sampling.temperature) +
           ", repeat_penalty " + std::to_string(sampling.repeat_penalty));
}

// Runtime 1.3.0 says that init has failed, and then crashes instead of returning.
[[noreturn]] void run_out_of_memory(const Log& log) {
  log.error("init failed: out of NPU memory");
  die(Death::kSegmentationFault);
}

void inject_faults(const ModelFile& model, const Log& log) {
  if (environment("RKLLM_SIM_STRICT", "") == "oom") run_out_of_memory(log);
  for (const Fault& fault : model.faults) {
    if (fault.token != 0) continue;
    switch (fault.what) {
      case Fault::What::kFail:
      case Fault::What::kError: throw std::runtime_error("the model file asks for a failure");
      case Fault::What::kCrash: die(Death::kSegmentationFault);
      case Fault::What::kHang: hang();
      case Fault::What::kLog: log.error("the model file asks for an error line"); break;
      case Fault::What::kOutOfMemory: run_out_of_memory(log);
    }
  }
}

}  // namespace

Loaded start_up(const Options& options, const Client& client, const Log& log) {
  const std::string platform = check_platform();
  check_driver(log);
  refuse_if(options.n_keep >= options.max_context_len, "n_keep must be less than max_context_len");
  if (options.n_batch < 1 || options.n_batch > 100) log.error("n_batch is not in 1 to 100");

  log.info("loading the simulated model " + options.model_path);
  ModelFile model = read_model_file(options.model_path);
  check_model(model, options, platform, log);
  refuse_if(!model.tokenizer && !client.has_tokenizer(),
            "the model has no tokenizer and there is no tokenizer_callback");
  refuse_if(!model.embeddings && !client.has_embedder(), "the model has no embeddings and there is no embed_callback");
  if (model.chat_template == Template::kUnparseable) log.warning("the model's chat template cannot be parsed");
  inject_faults(model, log);
  std::optional<NpuMemory> memory = NpuMemory::reserve(options.base_domain_id, model.npu_memory_mb);
  if (!memory) run_out_of_memory(log);
  check_cpus(options, model, platform);
  log.info("model: " + model.name + ", context " + std::to_string(context_window(options.max_context_len)) + " of " +
           std::to_string(model.max_context_len) + " tokens, platform " + platform);
  log_parameters(options, log);
  return {std::move(model), std::move(*memory)};
}

}  // namespace rkllm_mcp::sim
