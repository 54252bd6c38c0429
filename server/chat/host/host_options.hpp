// What the settings' section `chat` says to the host. Plain values.
#pragma once

#include <settings_defaults.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace rkllm_mcp::chat {

struct HostOptions {
  std::size_t warm_up_bytes = defaults::kChatWarmUpBytes;      // of text that one run of a warm-up computes; 0: none
  std::string caches_folder{};                                 // below runtime.cache_dir; empty: none are kept
  std::uint64_t most_cache_bytes = 0;                          // chat.cache_bytes
  unsigned structured_tries = defaults::kChatStructuredTries;  // runs for an answer that has to be JSON
};

}  // namespace rkllm_mcp::chat
