#include "app/from_settings.hpp"

#include "auth/access_tokens.hpp"
#include "backend/file_rules.hpp"

#include <exception>
#include <stdexcept>
#include <string>

namespace rkllm_mcp {

ServerModels::Choices model_choices(const Settings& settings) {
  ServerModels::Choices choices;
  choices.presets = settings.models;
  choices.model_dirs = model_folders(settings.runtime.model_dirs);
  choices.aliases = settings.chat.aliases;
  choices.any_model = settings.chat.any_model;
  const auto kept = static_cast<double>(settings.runtime.keep_alive_s.count());
  choices.keep_alive = {kept < 0, kept < 0 ? 0 : kept};
  choices.default_context = settings.runtime.default_context;
  choices.most_waiting = settings.queue.max_per_handle;
  choices.most_per_holder = settings.queue.max_per_token;
  choices.has_one_process = settings.runtime.isolation == Isolation::kThread;
  return choices;
}

TokenStream::Options stream_options(const Settings& settings, Counts& counts, const MemoryBudget& memory) {
  TokenStream::Options options;
  options.buffer_bytes = settings.stream.buffer_bytes;
  options.values_bytes = settings.stream.values_bytes;
  options.stall = settings.limits.stall_s;
  options.keep_tokens = true;
  options.memory = MemoryBudget(settings.stream.memory_bytes, memory);
  options.counts = &counts;
  return options;
}

Dispatcher::Options dispatcher_options(const Settings& settings, Counts& counts, const MemoryBudget& memory) {
  Dispatcher::Options options;
  options.memory = memory;
  options.message = {settings.limits.max_depth, settings.limits.max_id_bytes, &counts};
  options.calls = {.stream_buffer_bytes = settings.stream.buffer_bytes,
                   .stream_values_bytes = settings.stream.values_bytes,
                   .answer_bytes = settings.limits.max_message_bytes,
                   .reply_bytes = settings.limits.max_reply_bytes,
                   .inline_bytes = settings.mcp.inline_bytes,
                   .memory = memory,
                   .poll_timeout = settings.stream.poll_timeout_s,
                   .poll_wait_max = settings.stream.poll_wait_ms_max,
                   .stall = settings.limits.stall_s,
                   .stream_memory = MemoryBudget(settings.stream.memory_bytes, memory),
                   .counts = &counts,
                   .requests_per_session = settings.limits.max_requests_per_connection,
                   .queue_timeout = settings.queue.timeout_s,
                   .retained_chunks = settings.udp.retained_chunks};
  options.time_to_prove = settings.auth.timeout_s;
  try {
    if (!settings.auth.tokens.empty()) options.tokens = AccessTokens::read(settings.auth.tokens);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(std::string("auth.tokens: ") + error.what());
  }
  return options;
}

LibrarySearch library_search(const Settings& settings) {
  using Simulator = LibrarySearch::Simulator;
  const RuntimeSettings& runtime = settings.runtime;
  if (runtime.library == kSimulatorLibrary) return {{}, Simulator::kAlways};
  return {runtime.library, runtime.fallback == Fallback::kSimulator ? Simulator::kAsFallback : Simulator::kNever};
}

bool finds_simulator(const Settings& settings) {
  try {
    return find_library(library_search(settings)).simulated;
  } catch (const std::exception&) {
    return settings.runtime.library == kSimulatorLibrary;
  }
}

std::string path_for_library(const Settings& settings, const std::string& path) {
  return FileRules({settings.runtime.model_dirs, settings.runtime.cache_dir, settings.runtime.cache_bytes})
      .path_for(path, FileUse::kRead);
}

}  // namespace rkllm_mcp
