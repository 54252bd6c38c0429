// One run, from its input to its last callback.
//
// The order of events is the vendor's: refusals (return -1, no callback); the prompt is computed, which nothing
// interrupts; then for each token one forward step and one callback, after which a pause and an abort are looked for;
// then RKLLM_RUN_FINISH, unless the run was paused or has failed.
#pragma once

#include "answers/answer_tokens.hpp"
#include "answers/directives.hpp"
#include "board/processors.hpp"
#include "engine/abort_signal.hpp"
#include "engine/client.hpp"
#include "engine/instance.hpp"
#include "engine/prompt_encoder.hpp"
#include "engine/run_request.hpp"
#include "model/characters.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rkllm_mcp::sim {

// Used once, on the thread of the run. Only `signal` is shared with other threads.
class Generation {
 public:
  // `ending` is called right before a callback that is the run's last: whoever learns from that callback that the run
  // is over may use the handle. Not called for runs that end without one.
  Generation(Instance& instance, const RunRequest& request, AbortSignal& signal, std::function<void()> ending);

  // What rkllm_run returns.
  int run();

 private:
  using Clock = NpuClock::Clock;

  enum class Ending { kFinished, kPaused, kError, kFailed };

  // One sequence of the batch.
  struct Lane {
    KvCache* cache = nullptr;
    EncodedPrompt prompt;
    AnswerTokens answer;
    Utf8Joiner joiner;
    std::string text;          // what the callback is given; gone when the next token comes
    std::size_t computed = 0;  // prompt tokens that were not in the cache
    std::size_t tokens = 0;    // that came out
    std::int64_t left = 0;     // tokens until max_new_tokens
    TokenId last = 0;
    bool done = true;
  };

  Ending attempt();
  std::optional<Ending> check_configuration() const;
  Placement placement() const;
  bool encode_inputs(Placement placement);
  bool place_prompts(Placement placement);
  bool compute_prompts();
  bool embed(std::span<const Cell> cells);
  void save_prompt_cache() const;

  Ending answer_nothing();
  Ending answer_hidden_states();
  Ending generate();
  void prepare(Lane& lane, std::size_t entry);
  std::size_t count_question(const Directives& directives, std::int32_t most_tokens);
  std::optional<Ending> inject_fault(std::int64_t step) const;
  std::optional<Ending> advance();
  State sample();
  const char* text_of(Lane& lane);
  bool all_done() const;

  int deliver(State state);
  void finish_callback();
  void log_prompt(const Lane& lane, std::size_t reused) const;
  void log_end(const Perf& perf) const;

  Instance& instance_;
  const RunRequest& request_;
  AbortSignal& signal_;
  std::function<void()> ending_;
  std::vector<Lane> lanes_;
  std::vector<Output> outputs_;
  std::size_t callbacks_ = 0;         // that carried a token
  std::size_t prefilled_ = 0;         // prompt tokens that were computed
  std::size_t reused_ = 0;            // and those that were in the cache already
  std::size_t miscounted_ = 0;        // positions dropped by a change of keep_history, which the log line still counts
  Clock::time_point begun_;           // of generating
  Clock::time_point computed_until_;  // by the NPU
};

}  // namespace rkllm_mcp::sim
