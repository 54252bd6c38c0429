// What follows an answer: its figures; another try, if it is not what it had to be; the next answer of the turn; and
// what the next turn of the conversation will begin with.
#include "chat/host/turn_maker.hpp"

#include "faults.hpp"

#include <algorithm>
#include <utility>

namespace rkllm_mcp::chat {

AnswerEnd TurnMaker::end_of(const RunReport& report, Finish finish) const {
  AnswerEnd end;
  end.finish = finish;
  end.stop_string = run_->stop_string();
  RunFigures figures;
  figures.generated = std::max(report.tokens, run_->generated());
  figures.reasoning = run_->reasoning();
  figures.kv_size = report.kv_size;
  const Prefill prefill = prefill_.value_or(Prefill{report.prefill_tokens, report.prefill_ms});
  figures.prefilled = prefill.tokens;
  end.usage = usage_of(figures);
  end.timings.load_ms = model_->lease().load_ms().value_or(0);  // 0: the model was loaded already
  end.timings.prefill_ms = prefill.ms;
  end.timings.generate_ms = report.generate_ms;
  if (report.prefill_tokens) end.timings.timed_tokens = figures.generated - (*report.prefill_tokens > 0 ? 1 : 0);
  if (first_token_at_) {
    end.timings.first_token_ms = std::chrono::duration<double, std::milli>(*first_token_at_ - begun_at_).count();
  }
  end.timings.total_ms = std::chrono::duration<double, std::milli>(Clock::now() - begun_at_).count();
  return end;
}

// The tokens and times of a try that came to nothing belong to the answer, too.
void TurnMaker::add_tries_before(AnswerEnd& end) const {
  if (!tries_before_) return;
  const auto total_ms = end.timings.total_ms;  // it counts from the beginning of the turn
  end.usage = sum_of_runs(tries_before_->usage, end.usage);
  end.timings = sum_of_runs(tries_before_->timings, end.timings);
  end.timings.total_ms = total_ms;
}

void TurnMaker::answer_ended(const RunReport& report, AnswerRun::Outcome outcome) {
  if (outcome.complaint) {
    const bool was_cut = outcome.finish == Finish::kLength;
    if (!was_cut && tried_again(report, *outcome.complaint)) return;
    const std::string why = was_cut ? "the limit of " + std::to_string(limit_) + " tokens came before its end"
                                    : *outcome.complaint + ", after " + std::to_string(tries_ + 1) + " tries";
    const std::string what = plan_.turn().tool_choice.must_call() ? "called a tool as" : "given the JSON that";
    return fail(TurnError(ErrorKind::kInvalidAnswer, "the model has not " + what + " was asked for: " + why));
  }
  tell(outcome.events);
  if (listener_ == nullptr) return leave();
  AnswerEnd end = end_of(report, outcome.finish);
  kv_size_ = report.kv_size;
  if (!prompt_tokens_) prompt_tokens_ = end.usage.prompt;
  add_tries_before(end);
  const std::size_t number = usages_.size();
  usages_.push_back(end.usage);
  surroundings_.answered(model_->facts().name, end);
  listener_->ended(end, number);
  if (listener_ == nullptr) return leave();
  if (usages_.size() < plan_.turn().answers) {
    answer_ = {};
    tries_ = 0;
    tries_before_.reset();
    prefill_ = Prefill{0, 0};  // the prompt is there already
    return make_room();
  }
  TurnListener& listener = *std::exchange(listener_, nullptr);
  listener.finished(sum_of_answers(usages_));
  const bool warms_up = plan_.goes_on() && *keeps_model_ && surroundings_.options.warm_up_bytes > 0;
  if (!warms_up) return leave();
  warm_text_ = plan_.text_after(answer_);
  warm_up();
}

bool TurnMaker::tried_again(const RunReport& report, const std::string& complaint) {
  if (has_fault("what does not fit its schema is not asked for again")) return false;
  if (++tries_ >= std::max(surroundings_.options.structured_tries, 1U)) {
    --tries_;
    return false;
  }
  AnswerEnd end = end_of(report, Finish::kStop);
  add_tries_before(end);
  tries_before_ = end;
  plan_.ask_again(complaint);
  answer_ = {};
  prompt_tokens_.reset();
  prefill_.reset();
  make_room();
  return true;
}

// The most tokens of warm_text_: those in the KV cache now (thinking will be left out), and the marks of an answer.
std::int64_t TurnMaker::most_warm_tokens() const {
  constexpr std::int64_t kMarks = 64;
  const std::int64_t by_bytes = most_prompt_tokens(warm_text_.size());
  return kv_size_ ? std::min(by_bytes, *kv_size_ + kMarks) : by_bytes;
}

// One slice of what the next turn will begin with; the last one writes the cache.
void TurnMaker::warm_up() {
  const std::size_t known = model_->reusable_bytes(warm_text_);
  if (known >= warm_text_.size() || model_->lease().others_wait()) return leave();
  if (most_warm_tokens() >= context()) return leave();  // it may not fit, which would empty the KV cache
  const std::size_t end = slice_end(warm_text_, known, surroundings_.options.warm_up_bytes);
  RunOptions options = run_options(1);
  const bool is_last = end == warm_text_.size();
  PromptCaches& caches = surroundings_.caches;
  const bool keeps_cache = may_keep_cache() && !model_->facts().cache_identity.empty();
  if (is_last && keeps_cache) options.save_cache_to = caches.path_for(model_->facts().cache_identity, warm_text_);
  model_->run(
      warm_text_.substr(0, end), options, [](std::string_view) {},
      [this, &caches, is_last, path = options.save_cache_to](const RunReport& report) {
        const bool has_failed = report.end == RunEnd::kFailed;
        if (!has_failed && !is_last) return warm_up();
        if (!path.empty() && (has_failed || !report.cache_saved || !may_keep_cache())) {
          caches.forget(path);
        } else if (!path.empty()) {
          caches.written(path, model_->facts().cache_identity, warm_text_);
        }
        leave();
      });
}

}  // namespace rkllm_mcp::chat
