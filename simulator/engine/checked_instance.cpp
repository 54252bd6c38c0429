#include "engine/checked_instance.hpp"

#include "engine/contract.hpp"
#include "engine/generation.hpp"
#include "engine/instance.hpp"
#include "model/kv_cache.hpp"

#include <unistd.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace rkllm_mcp::sim {
namespace {

Loaded load_model(const Options& options, const Client& client) {
  const Log log;
  return start_up(options, client, log);
}

Options with_usable_batch(Options options) {
  options.n_batch = std::max(options.n_batch, 1);
  return options;
}

// A simulated adapter is JSON with this mark; anything else is a file that cannot be applied.
bool is_simulated_adapter(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const Json content = Json::parse(file, nullptr, false);
  return content.is_object() && content.value("rkllm_simulated_lora", Json()) == 1;
}

}  // namespace

CheckedInstance::CheckedInstance(Options options, std::unique_ptr<Client> client)
    : instance_{load_model(options, *client), with_usable_batch(std::move(options)), std::move(client)} {
  if (instance_.options.is_async) {
    queue_ = std::make_unique<AsyncQueue>([this](const RunRequest& request) { execute(request); });
  }
}

CheckedInstance::~CheckedInstance() {
  if (unfinished_ > 0) broken_contract(Death::kSegmentationFault, "rkllm_destroy: a run goes on; abort it and wait");
  if (running_ > 0 && runner_.load() == std::this_thread::get_id()) {
    broken_contract(Death::kSegmentationFault, "rkllm_destroy: called inside a callback of the handle");
  }
  const std::lock_guard wait_for_last_callback(use_);
}

std::unique_lock<std::recursive_mutex> CheckedInstance::enter(std::string_view function) {
  if (unfinished_ > 0 && runner_.load() != std::this_thread::get_id()) {
    broken_contract(Death::kSegmentationFault,
                    std::string(function) + ": called while a run goes on; the vendor's library has no locks");
  }
  return std::unique_lock(use_);
}

// From here on the run counts, and an abort is meant for it. One that came while nothing ran is forgotten.
void CheckedInstance::accept() {
  if (unfinished_ == 0) signal_.lower();
  ++running_;
  ++unfinished_;
}

void CheckedInstance::refuse_forked_child() const {
  if (ran_in_ != 0 && ran_in_ != getpid()) {
    broken_contract(Death::kHang, "rkllm_run: in a child of fork(), after a run in its parent");
  }
}

int CheckedInstance::run(const RunRequest& request) {
  refuse_forked_child();
  const auto lock = enter("rkllm_run");
  if (unfinished_ > 0) instance_.log.error("rkllm_run inside a callback rewrites the kv cache of the run around it");
  accept();
  return execute(request);
}

int CheckedInstance::run_async(RunRequest request) {
  if (!queue_) return 0;  // as the vendor's: without is_async nothing happens, and nothing says so
  accept();
  queue_->push(std::move(request));
  return 0;
}

int CheckedInstance::execute(const RunRequest& request) {
  const std::lock_guard lock(use_);
  ran_in_ = getpid();
  const std::thread::id outer = runner_.exchange(std::this_thread::get_id());
  bool counted = true;
  const auto no_longer_counts = [this, &counted] {
    if (!std::exchange(counted, false)) return;
    signal_.lower();  // before anyone can start, and abort, the next run
    --unfinished_;
  };
  const int status = Generation(instance_, request, signal_, no_longer_counts).run();
  runner_ = outer;
  no_longer_counts();
  --running_;
  return status;
}

int CheckedInstance::abort() {
  signal_.raise();
  return 0;
}

int CheckedInstance::is_running() const { return running_ > 0 ? 1 : 0; }

int CheckedInstance::clear_kv_cache(bool keep_system_prompt) {
  const auto lock = enter("rkllm_clear_kv_cache");
  for (KvCache& cache : instance_.caches) cache.truncate(keep_system_prompt ? instance_.system_tokens : 0);
  instance_.loaded_prompt.reset();
  instance_.paused = false;
  return 0;
}

int CheckedInstance::clear_kv_range(std::span<const int> starts, std::span<const int> ends) {
  const auto lock = enter("rkllm_clear_kv_cache");
  bool valid = instance_.paused && instance_.paused_single_turn;
  for (std::size_t i = 0; i < instance_.caches.size(); ++i) {
    valid = valid && 0 <= starts[i] && starts[i] < ends[i] &&
            static_cast<std::size_t>(ends[i]) <= instance_.caches[i].size();
  }
  if (!valid) {
    instance_.log.error("a range of the kv cache can be cleared only within it, and only while a run is paused");
    return -1;
  }
  for (std::size_t i = 0; i < instance_.caches.size(); ++i) {
    instance_.caches[i].erase(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(ends[i]));
  }
  return 0;
}

int CheckedInstance::kv_cache_sizes(std::span<int> sizes) {
  const auto lock = enter("rkllm_get_kv_cache_size");
  std::transform(instance_.caches.begin(), instance_.caches.end(), sizes.begin(),
                 [](const KvCache& cache) { return static_cast<int>(cache.size()); });
  return 0;
}

int CheckedInstance::load_lora(const std::string& name, const std::string& path) {
  const auto lock = enter("rkllm_load_lora");
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || instance_.adapters.contains(name)) {
    instance_.log.error("LoRA adapter " + name + ": no such file, or the name is taken");
    return -1;
  }
  const bool usable = is_simulated_adapter(path);
  if (!usable) instance_.log.error("LoRA adapter " + name + " cannot be applied");
  instance_.adapters.emplace(name, usable);
  return 0;
}

int CheckedInstance::load_prompt_cache(const std::string& path) {
  const auto lock = enter("rkllm_load_prompt_cache");
  if (!instance_.model.reuses_prefix) {
    instance_.log.warning("this model cannot use a prompt cache");
    return 0;
  }
  auto content = read_prompt_cache(path, instance_.model.name);
  if (const auto* fault = std::get_if<CacheFileFault>(&content)) {
    instance_.log.error("the prompt cache " + path + " cannot be loaded");
    return static_cast<int>(*fault);
  }
  // The last token is left out: a run always computes at least one.
  auto& cells = std::get<std::vector<Cell>>(content);
  if (!cells.empty()) cells.pop_back();
  cells.resize(std::min(cells.size(), instance_.context));
  instance_.loaded_prompt = std::move(cells);
  return 0;
}

int CheckedInstance::release_prompt_cache() {
  const auto lock = enter("rkllm_release_prompt_cache");
  instance_.loaded_prompt.reset();
  for (KvCache& cache : instance_.caches) cache.forget_prompt();
  return 0;
}

int CheckedInstance::set_chat_template(std::string system, std::string prefix, std::string postfix) {
  const auto lock = enter("rkllm_set_chat_template");
  instance_.chat_template.replace(std::move(system), std::move(prefix), std::move(postfix));
  instance_.clear_caches();
  return 0;
}

int CheckedInstance::set_function_tools(std::string system, std::string_view tools, std::string tag) {
  const auto lock = enter("rkllm_set_function_tools");
  if (!instance_.chat_template.set_tools(std::move(system), tools, std::move(tag))) {
    instance_.log.error("the function tools were refused");
    return -1;
  }
  instance_.clear_caches();
  return 0;
}

int CheckedInstance::set_cross_attention(bool complete, int num_tokens) {
  const auto lock = enter("rkllm_set_cross_attn_params");
  if (!instance_.options.use_cross_attn || !complete || !instance_.model.cross_attention || num_tokens <= 0) {
    instance_.log.error("the cross attention parameters were refused");
    return -1;
  }
  instance_.cross_attention_set = true;
  return 0;
}

}  // namespace rkllm_mcp::sim
