// Where the result callback of a run delivers. The generated trampoline turns the vendor's callback into these calls;
// the implementation decides what becomes of the tokens.
//
// Threads: await_end() on the thread that makes the call, all others on whatever thread the runtime library chooses.
// What the arguments point at is dead when the function returns, so an implementation copies. Nothing thrown may cross
// the C library: what its callback calls is noexcept.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace rkllm_mcp {

// Rows of 32-bit floats that the runtime lends for the time of a callback.
//
// The names are C's, so that a reply can be written without knowing the API: {"<field>":{"<values_name>":[...],
// "<columns_name>":columns,"<rows_name>":rows}}. What `columns` turns out to be is remembered for the handle as the
// handle value `columns_name`.
struct FloatRows {
  std::string_view field;         // e.g. "logits"
  std::string_view values_name;   // e.g. "logits"
  std::string_view rows_name;     // e.g. "num_tokens"
  std::string_view columns_name;  // e.g. "vocab_size"
  const float* values;            // rows * columns values, row by row
  std::size_t rows;
  std::size_t columns;
};

// What the runtime shall do when a callback returns.
enum class CallbackReturn {
  kGoOn,
  kGoOnAndFreeRows,  // the rows that this callback brought are not needed any more
};

class ResultSink {
 public:
  virtual ~ResultSink() = default;

  // How many entries the results of this run have: 1, or the handle's n_batch.
  virtual std::size_t batch_size() const noexcept = 0;

  // One token of entry `batch`. `text` is absent where the runtime gave NULL (an unfinished character, say).
  virtual void on_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t token_id) noexcept = 0;
  virtual void on_rows(const FloatRows& rows) noexcept = 0;
  // The callback that ends a run: `state` is the enumerator's name; `values` what came with it (e.g. {"perf":{...}}),
  // null if nothing did.
  virtual void on_end(std::string_view state, Json values) noexcept = 0;
  // In place of on_end() if the state is one of a run that has failed.
  virtual void on_failure(std::string_view state) noexcept { on_end(state, nullptr); }
  // Called once, last, in every callback.
  virtual CallbackReturn callback_return() noexcept = 0;

  // For functions that return before the run has ended: blocks the calling thread until the end has been told, or
  // until `still_running` has been false for long enough that the runtime must have given up without a callback. True
  // if the end was seen.
  virtual bool await_end(const std::function<bool()>& still_running) = 0;
};

}  // namespace rkllm_mcp
