// One turn, from its place in a model's queue to the warm-up behind its answer, and the settings that it goes by.
//
//   place → template → cache → count → run (again: n, structured answers) → told → warm-up → gone
//
// Whoever asked may go at any time: a place in the queue is then free at once, a run ends at its next token, and no
// warm-up follows, since nobody knows how much of the answer the client has kept.
//
// Threads: event loop only. Every step is a callback of the lender or of a model, which never come from inside a call.
// A function that begins the next step does nothing after that; run() alone may still hold the model's run.
#pragma once

#include "chat/host/answer_run.hpp"
#include "chat/host/leased_model.hpp"
#include "chat/host/prompt_caches.hpp"
#include "chat/host/turn_listener.hpp"
#include "chat/host/turn_plan.hpp"
#include "chat/turn/context.hpp"
#include "clock.hpp"

#include <settings_defaults.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

// What the settings' section `chat` says of turns.
struct HostOptions {
  std::size_t warm_up_bytes = defaults::kChatWarmUpBytes;      // of text that one run of a warm-up computes; 0: none
  std::string caches_folder{};                                 // below runtime.cache_dir; empty: none are kept
  std::uint64_t most_cache_bytes = 0;                          // chat.cache_bytes
  unsigned structured_tries = defaults::kChatStructuredTries;  // runs for an answer that has to be JSON
};

class TurnMaker {
 public:
  // What all turns share; outlives them.
  struct Surroundings {
    const HostOptions& options;
    PromptCaches& caches;
    // The record of this load of a model; it stays where it is as long as the model is leased.
    std::function<CacheRecord&(const std::string& model, std::uint64_t load_number)> record_of;
    // An answer of that model has ended.
    std::function<void(const std::string& model, const AnswerEnd& end)> answered;
    // The first token of a turn has come out of that handle, so many seconds after the turn was asked for; null: nobody
    // wants to know.
    std::function<void(const std::string& handle, double seconds)> first_token;
    // The number of turns that hold that model although no client waits for them: the answer has been told, or the
    // listener has gone.
    std::function<std::size_t(const std::string& model)> held_for_nobody;
  };

  // `gone` is called last, and may destroy this.
  TurnMaker(Surroundings surroundings, TurnPlan plan, TurnListener& listener, std::function<void()> gone);
  TurnMaker(const TurnMaker&) = delete;
  TurnMaker& operator=(const TurnMaker&) = delete;

  void begin(ModelLender& lender, PlaceWish wish);
  // The listener goes, and hears nothing more. May destroy this.
  void listener_gone();
  bool holds_for_nobody(const std::string& model) const {
    return listener_ == nullptr && model_ && model_->facts().name == model;
  }
  // hold(): the listener cannot take more for now; go_on(): it can again.
  void hold();
  void go_on();

 private:
  void granted(std::unique_ptr<ModelLease> lease);
  void clear_template();
  void load_cache();
  void make_room();  // looks how the prompt fits into the context
  std::size_t bytes_that_may_fit() const;
  void count();  // counts the prompt's tokens, by a run of one token
  void counted(const RunReport& report);
  void count_slice();  // counts slice by slice, for turns that want only the count
  void slice_counted(const RunReport& report, bool is_last);
  void run(std::int64_t most_tokens);
  void take(std::string_view bytes);
  void run_ended(const RunReport& report);
  void answer_ended(const RunReport& report, AnswerRun::Outcome outcome);
  void run_failed(const RunReport& report);
  void cut_by_others();
  bool tried_again(const RunReport& report, const std::string& complaint);
  void warm_up();
  void fail(const TurnError& error);
  void too_long(std::optional<std::int64_t> tokens);  // of the prompt, if they are known
  void leave();

  // The end of the slice of `text` that begins at `from`: whole characters only, so it may have some bytes more.
  static std::size_t slice_end(std::string_view text, std::size_t from, std::size_t bytes);
  bool knows_runtime();
  TurnBeginning beginning() const;
  AnswerEnd end_of(const RunReport& report, Finish finish) const;
  void add_tries_before(AnswerEnd& end) const;
  RunOptions run_options(std::int64_t most_tokens) const;
  void tell(const std::vector<AnswerEvent>& events);
  std::int64_t most_warm_tokens() const;
  std::int64_t context() const { return context_tokens(model_->facts().max_context_len); }
  // No conversation has been deleted since this turn began: it may have been this one.
  bool may_keep_cache() const { return surroundings_.caches.times_forgotten() == forgotten_before_; }

  const Surroundings surroundings_;
  const std::uint64_t forgotten_before_ = surroundings_.caches.times_forgotten();
  TurnPlan plan_;
  TurnListener* listener_;  // null: nobody listens any more
  const std::function<void()> gone_;
  const Clock::time_point begun_at_ = Clock::now();
  std::optional<Clock::time_point> first_token_at_;
  std::unique_ptr<QueuePlace> place_;  // while it waits
  std::optional<LeasedModel> model_;   // from then on
  std::optional<bool> keeps_model_;    // false: it is unloaded behind this turn, so nothing is to be warmed up
  bool has_begun_ = false;             // the listener has been told
  bool is_running_ = false;
  bool is_held_ = false;
  std::optional<std::int64_t> prompt_tokens_;  // counted
  struct Prefill {
    std::optional<std::int64_t> tokens;
    std::optional<double> ms;
  };
  std::optional<Prefill> prefill_;  // where another run than the answer's own has computed the prompt
  std::int64_t limit_ = 0;          // of the run
  std::unique_ptr<AnswerRun> run_;
  std::optional<Clock::time_point> run_first_token_at_;
  unsigned tries_ = 0;
  std::optional<AnswerEnd> tries_before_;  // figures of this answer's tries that did not fit its schema
  Answer answer_;                          // the one that is being made
  std::vector<Usage> usages_;
  std::optional<std::int64_t> kv_size_;  // behind the last answer
  std::string warm_text_;
};

}  // namespace rkllm_mcp::chat
