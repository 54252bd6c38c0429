// What a worker sends while it makes one call: frames -> tokens and rows for whoever takes them, and the call's end.
#pragma once

#include "backend/engine.hpp"
#include "worker/frame.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp {

class ReplyReader {
 public:
  // Who takes what a run produces.
  struct Run {
    std::uint32_t number;  // of the call
    CallObserver& observer;
    std::size_t entries;  // of its batch
    // Called when the observer wants to stop, until the worker could be told, which it returns.
    std::function<bool()> stop;
  };
  struct End {
    CallOutcome outcome;
    bool loaded = false;                           // there is a model now
    std::optional<Model::Values> handle_values{};  // nothing: they are as the worker said last
  };

  // Reads the reply to the call with this number; `run` is null unless it is a run, and outlives this.
  ReplyReader(std::uint32_t call, Run* run) : call_(call), run_(run), end_(kMostEndBytes), rows_(kMostColumns) {}

  // The end, once it is whole. Waits while there is no room for tokens. Throws BadFrame.
  std::optional<End> take(const Frame& frame);

  // For a thread that must not wait: take_tokens() takes a frame, and next_token() returns its tokens one by one, then
  // nothing; until then the frame must stay valid. Both throw BadFrame.
  void take_tokens(const Frame& frame);
  std::optional<TokenRecord> next_token();
  CallObserver& observer() const { return run_->observer; }  // of a run
  void stop_if_wanted();                                     // whoever takes the tokens wants no more

 private:
  // What a worker may say of the end of a call, and the longest row of floats.
  static constexpr std::size_t kMostEndBytes = std::size_t{1} << 20U;
  static constexpr std::size_t kMostColumns = std::size_t{16} << 20U;

  static End read_end(const std::string& text);

  const std::uint32_t call_;
  Run* const run_;
  FramedText end_;
  RowsReader rows_;
  std::string_view tokens_;  // the records of the latest frame that are left
  bool stopped_ = false;     // the worker has been told
};

}  // namespace rkllm_mcp
