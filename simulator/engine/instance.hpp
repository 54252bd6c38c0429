// What one handle holds: the model, its parameters, and everything that lasts from one run to the next.
//
// Plain state without locks. CheckedInstance decides who may touch it when.
#pragma once

#include "board/library_log.hpp"
#include "board/processors.hpp"
#include "engine/client.hpp"
#include "engine/perf_counters.hpp"
#include "engine/record.hpp"
#include "engine/run_request.hpp"
#include "model/chat_template.hpp"
#include "model/kv_cache.hpp"
#include "model/model_file.hpp"
#include "model/tensors.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::sim {

// A model that is ready to run.
struct Loaded {
  ModelFile model;
  NpuMemory memory;
};

// RKLLMParam as plain values. What an ABI lacks keeps the value that stands here.
struct Options {
  std::string runtime_version;  // that is simulated
  std::string model_path;
  std::int32_t max_context_len = 0;
  std::int32_t max_new_tokens = 0;
  std::int32_t n_keep = -1;
  Sampling sampling;
  bool skip_special_token = true;
  bool ignore_eos_token = false;
  bool is_async = false;
  int enabled_cpus_num = 4;
  std::uint32_t enabled_cpus_mask = 0x0F;  // which every board has
  std::int32_t base_domain_id = 0;
  int n_batch = 1;
  bool use_cross_attn = false;
  MediaTexts image_texts;  // of ABIs that fix them at init; those of others come with each image
};

// The context window that `max_context_len` stands for: rounded up to a multiple of 32.
inline std::size_t context_window(std::int32_t max_context_len) {
  return max_context_len <= 0 ? 0 : (static_cast<std::size_t>(max_context_len) + 31) / 32 * 32;
}

struct Instance {
  Instance(Loaded loaded, Options the_options, std::unique_ptr<Client> the_client)
      : model(std::move(loaded.model)),
        npu_memory(std::move(loaded.memory)),
        options(std::move(the_options)),
        context(context_window(options.max_context_len)),
        lacks_cpus(names_missing_cpu(options.enabled_cpus_mask)),
        n_keep(options.n_keep < 0 ? 0 : static_cast<std::size_t>(options.n_keep)),
        client(std::move(the_client)),
        chat_template(model),
        caches(static_cast<std::size_t>(options.n_batch), KvCache(context)),
        tensors(static_cast<std::size_t>(model.embedding_size), static_cast<std::size_t>(model.vocab_size)) {}

  void clear_caches() {
    for (KvCache& cache : caches) cache.clear();
    loaded_prompt.reset();
    paused = false;
  }

  const ModelFile model;
  const NpuMemory npu_memory;
  const Options options;
  const std::size_t context;  // tokens
  const bool lacks_cpus;      // each step complains about a CPU that does not exist
  const std::size_t n_keep;
  const std::unique_ptr<Client> client;
  const Log log;

  ChatTemplate chat_template;
  std::vector<KvCache> caches;                     // one for each entry of the batch
  std::optional<std::vector<Cell>> loaded_prompt;  // of rkllm_load_prompt_cache; the next single turn finds it
  std::size_t system_tokens = 0;                   // of the set system prompt, as it stands at the start of the caches
  bool history_in_cache = false;                   // the last run had keep_history set
  bool paused = false;                             // the last run was paused: the next one continues behind it
  bool paused_single_turn = false;                 // ... and it had keep_history 0
  bool batch_history_used = false;                 // a batch has run with keep_history, which works once
  bool cross_attention_set = false;
  std::map<std::string, bool, std::less<>> adapters;  // by name: whether it can be applied

  Tensors tensors;
  std::string asked_line;       // the directives' line of the last answer
  std::size_t times_asked = 0;  // how often it has been answered

  PerfCounters perf;
  Record record;
};

// --- what rkllm_init checks, in the vendor's order, before there is a handle: startup.cpp

// Loads the model. Throws std::runtime_error, saying what was refused and why, where rkllm_init returns -1. Faults that
// the model file puts at init happen here.
//
// The board is made up by the environment: RKLLM_SIM_PLATFORM (default RK3588; none: no NPU device) and
// RKLLM_SIM_DRIVER (default 0.9.8).
Loaded start_up(const Options& options, const Client& client, const Log& log);

}  // namespace rkllm_mcp::sim
