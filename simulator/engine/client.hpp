// The program that uses the library, as the engine sees it: three callbacks, whatever their C types are in an ABI.
// Each ABI shim implements it.
#pragma once

#include "model/vocabulary.hpp"

#include <cstddef>
#include <span>

namespace rkllm_mcp::sim {

// Values as in every ABI so far; a shim translates if one differs.
enum class State { kNormal = 0, kWaiting = 1, kFinish = 2, kError = 3 };

// What a result callback asks for. Every other value means "go on".
inline constexpr int kPauseRequest = 1;
inline constexpr int kReleaseRequest = 2;

struct Rows {
  const float* values = nullptr;
  std::size_t columns = 0;
  std::size_t rows = 0;
};

struct Perf {
  float prefill_time_ms = 0;
  int prefill_tokens = 0;
  float generate_time_ms = 0;
  int generate_tokens = 0;
  float memory_usage_mb = 0;
};

// The result of one entry of a batch. What it points at is valid during the callback.
struct Output {
  const char* text = nullptr;
  TokenId token = 0;
  Rows hidden;
  Rows logits;
  Perf perf;
};

// Called on the thread of the run.
class Client {
 public:
  virtual ~Client() = default;

  // Hands over one result for each entry of the batch, or none (a NULL result). Returns what the callback returned.
  virtual int deliver(std::span<const Output> outputs, State state, void* userdata) = 0;

  virtual bool has_tokenizer() const = 0;
  // The vendor's protocol: the number of ids written, or minus the number that are needed.
  virtual int tokenize(const char* text, std::size_t length, std::span<TokenId> ids) = 0;

  virtual bool has_embedder() const = 0;
  // Fills `rows`; non-zero is a failure.
  virtual int embed(std::span<TokenId> ids, std::span<float> rows) = 0;
};

}  // namespace rkllm_mcp::sim
