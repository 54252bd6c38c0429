// Says what was generated, so that a test can compare it byte by byte with what arrived elsewhere.
//
// With RKLLM_SIM_RECORD=DIR every run leaves DIR/<handle>-<run>.txt, the exact bytes of all text that was delivered,
// and a line in DIR/runs.jsonl. Both are written before the last callback of the run is made, so whoever has seen the
// end of a run finds its record. Handles are numbered from 1 in the order of rkllm_init, skipping numbers that a file
// in the directory already has: several processes may share one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::sim {

// Not thread-safe: belongs to whoever runs on the handle.
class Record {
 public:
  // Looks at the environment; without RKLLM_SIM_RECORD every call is a no-op.
  Record();

  bool is_on() const noexcept { return directory_.has_value(); }

  // A run begins with `entries` sequences; `prompt` is that of the first.
  void begin(std::string_view prompt, std::size_t entries);
  // Text was delivered for a sequence.
  void add(std::size_t entry, const char* text) { texts_[entry] += text; }
  // The run has ended, with `status` for the caller, after `callbacks` callbacks that carried a token.
  // `ending` is "finish", "pause", "error" or "failure".
  // `prefilled` and `reused`: tokens of the prompts that were computed, and that were there already.
  void end(std::size_t callbacks, bool aborted, int status, std::string_view ending, std::size_t prefilled,
           std::size_t reused);

 private:
  std::optional<std::filesystem::path> directory_;
  std::uint64_t handle_ = 0;
  std::uint64_t run_ = 0;
  std::string prompt_;
  std::vector<std::string> texts_;  // of the current run, by sequence; their memory is used again
};

}  // namespace rkllm_mcp::sim
