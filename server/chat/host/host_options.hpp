// What the settings' section `chat` says to the host. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace rkllm_mcp::chat {

struct HostOptions {
  std::size_t warm_up_bytes = 2048;    // of text that one run of a warm-up computes; 0: no warm-up
  std::string caches_folder{};         // chat.caches_dir; empty: none are kept
  std::uint64_t most_cache_bytes = 0;  // chat.caches_max_bytes
  unsigned structured_tries = 3;       // runs for an answer that has to be JSON
};

}  // namespace rkllm_mcp::chat
