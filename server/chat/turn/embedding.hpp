// A request for embeddings, and what comes of it. Plain values.
#pragma once

#include "chat/turn/turn.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rkllm_mcp::chat {

struct EmbeddingWish {
  std::string model{};
  std::vector<std::string> inputs{};
  std::string field = "input";              // of the request, for complaints
  std::optional<std::size_t> dimensions{};  // the first so many, normalised again
  bool drops_end = false;                   // Ollama's truncate: an input that is too long loses its end
  std::optional<KeepAlive> keep_alive{};
};

struct Embeddings {
  std::vector<std::vector<float>> vectors{};  // of length 1, in the order of the inputs
  std::vector<std::size_t> cut{};             // numbers of the inputs that have lost their ends
  std::int64_t tokens = 0;                    // of all inputs, as far as they were not cut
  std::optional<double> load_ms{};
  std::size_t queue_position = 0;  // how many were before it when it came
  double total_ms = 0;
};

}  // namespace rkllm_mcp::chat
