#include "chat/host/turn_maker.hpp"

#include "faults.hpp"
#include "random_bytes.hpp"
#include "text/utf8.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr std::size_t kMostBytesOfToken = 8;  // of a whole prompt's tokens, on average

bool wishes_something(const SamplingWish& wish) { return wish != SamplingWish{}; }

}  // namespace

std::size_t TurnMaker::slice_end(std::string_view text, std::size_t from, std::size_t bytes) {
  std::size_t end = bytes >= text.size() - from ? text.size() : from + bytes;
  while (end < text.size() && continues_character(text[end])) ++end;
  return end;
}

TurnMaker::TurnMaker(Surroundings surroundings, TurnPlan plan, TurnListener& listener, std::function<void()> gone)
    : surroundings_(std::move(surroundings)), plan_(std::move(plan)), listener_(&listener), gone_(std::move(gone)) {}

void TurnMaker::begin(ModelLender& lender, PlaceWish wish) {
  keeps_model_ = !wish.keep_alive || !wish.keep_alive->unloads();
  PlaceEvents<ModelLease> events;
  // Leases that no client waits for any more (such as those of warm-ups) give way to this turn, and are not counted as
  // waiting before it.
  events.queued = [this, model = wish.model](std::size_t before) {
    listener_->queued(before - std::min(before, surroundings_.held_for_nobody(model)));
  };
  events.loading = [this](const LoadProgress& progress) { listener_->loading(progress); };
  events.granted = [this](std::unique_ptr<ModelLease> lease) { granted(std::move(lease)); };
  events.failed = [this](const TurnError& error) { fail(error); };
  place_ = lender.ask(std::move(wish), std::move(events));
}

void TurnMaker::listener_gone() {
  if (listener_ == nullptr) return;
  listener_ = nullptr;
  if (!model_) return leave();
  if (has_fault("the run of a turn that was given up goes on")) return;
  if (is_running_) model_->abort();  // what follows comes with the end of the run, or of another step
}

void TurnMaker::hold() {
  is_held_ = true;
  if (is_running_) model_->hold();
}

void TurnMaker::go_on() {
  is_held_ = false;
  if (is_running_) model_->go_on();
}

void TurnMaker::granted(std::unique_ptr<ModelLease> lease) {
  CacheRecord& record = surroundings_.record_of(lease->model().facts().name, lease->load_number());
  const bool must_clear = record.must_clear_template(lease->model().foreign_changes()) &&
                          !has_fault("a model that somebody else has used is taken as it was left");
  model_.emplace(std::move(lease), record);
  place_.reset();
  if (!knows_runtime()) {
    return fail(TurnError::not_supported(
        "model", "runtime " + model_->facts().runtime_version + " cannot hold conversations; it takes 1.2.1 or later"));
  }
  if (model_->facts().n_batch > 1) return fail(TurnError::takes_batches(model_->facts().n_batch));
  if (plan_.turn().only_counts && model_->may_hold_conversation()) {
    return fail(TurnError::not_supported("", "a count would take a conversation out of the KV cache"));
  }
  if (plan_.needs_special_tokens() && !model_->facts().shows_special_tokens) {
    return fail(TurnError::not_supported(
        "tools",
        "this model marks its calls by special tokens, which it was loaded to hide; load it with "
        "\"skip_special_token\": false in param, of rkllm_init or of the preset (models.NAME.param)"));
  }
  if (plan_.uses_own_template() || !must_clear) return load_cache();
  clear_template();
}

bool TurnMaker::knows_runtime() { return model_->facts().has_kv_size; }

void TurnMaker::clear_template() {
  model_->clear_template([this](const std::string& complaint) {
    if (!complaint.empty()) {
      return fail(
          TurnError(ErrorKind::kRuntimeFailed, "the runtime's own template cannot be switched off: " + complaint));
    }
    load_cache();
  });
}

void TurnMaker::load_cache() {
  if (listener_ == nullptr) return leave();
  if (!plan_.goes_on() || model_->facts().cache_identity.empty()) return make_room();
  const std::string& prompt = plan_.prompt().text;
  auto found = surroundings_.caches.best_for(model_->facts().cache_identity, prompt, model_->reusable_bytes(prompt));
  if (!found) return make_room();
  model_->load_cache(found->path, std::move(found->text), [this, path = found->path](bool loaded) {
    if (!loaded) surroundings_.caches.forget(path);
    make_room();
  });
}

void TurnMaker::make_room() {
  if (listener_ == nullptr) return leave();
  if (plan_.turn().only_counts) return count_slice();
  for (;;) {
    // With the runtime's own template around it the prompt has more bytes than are known here.
    const std::size_t bytes =
        plan_.uses_own_template() ? std::size_t{std::numeric_limits<std::int32_t>::max()} : plan_.prompt().text.size();
    const ContextPlan room = plan_run(context(), {.bytes = bytes, .tokens = prompt_tokens_}, plan_.turn().max_tokens);
    if (const auto* limit = std::get_if<RunWithLimit>(&room)) return run(limit->max_new_tokens);
    if (std::holds_alternative<CountFirst>(room)) return count();
    if (!plan_.shorten(bytes_that_may_fit())) return too_long(prompt_tokens_);
    prompt_tokens_.reset();
  }
}

// How long a prompt may be that replaces one that was too long. If the number of its tokens is known, it is shortened
// in proportion. Else each try is a run, and a run that fails empties the KV cache; to have few tries, an eighth of the
// prompt is dropped each time, and at once all that cannot fit, as no token has more than kMostBytesOfToken bytes.
std::size_t TurnMaker::bytes_that_may_fit() const {
  const std::size_t bytes = plan_.prompt().text.size();
  const auto context = static_cast<std::size_t>(this->context());
  if (!prompt_tokens_) return std::min(bytes - bytes / 8, context * kMostBytesOfToken);
  return bytes * context / static_cast<std::size_t>(*prompt_tokens_);
}

RunOptions TurnMaker::run_options(std::int64_t most_tokens) const {
  RunOptions options;
  options.sampling = with_wishes(model_->facts().preset, plan_.turn().sampling);
  // An answer that was not what it had to be is asked for with less freedom.
  if (tries_ > 0) options.sampling.temperature /= static_cast<double>(1U << std::min(tries_, 8U));
  options.max_new_tokens = most_tokens;
  const Thinking thinking = plan_.turn().thinking;
  options.enable_thinking = thinking != Thinking::kOff && thinking != Thinking::kSkipped;
  return options;
}

void TurnMaker::count() {
  is_running_ = true;
  model_->run(
      plan_.prompt().text, run_options(1), [](std::string_view) {},
      [this](const RunReport& report) { counted(report); });
}

void TurnMaker::counted(const RunReport& report) {
  is_running_ = false;
  if (listener_ == nullptr) return leave();
  if (report.end == RunEnd::kFailed) {
    // A prompt that is longer than the context is refused before a run begins; one that cannot be is refused for
    // another reason.
    const bool has_begun = report.broke_off || report.tokens > 0;
    const bool may_be_too_long =
        plan_.uses_own_template() || most_prompt_tokens(plan_.prompt().text.size()) > context();
    if (report.lost || has_begun || !may_be_too_long) return run_failed(report);
    if (!plan_.shorten(bytes_that_may_fit())) return too_long(std::nullopt);
    return clear_template();  // the failure has emptied the KV cache
  }
  const bool is_limited = model_->facts().has_run_options;  // if not, its limit of one token is an abort, too
  if (report.end == RunEnd::kAborted && is_limited) return cut_by_others();
  prompt_tokens_ =
      report.kv_size ? prompt_tokens_after(*report.kv_size, std::max<std::int64_t>(report.tokens, 1)) : std::nullopt;
  if (!prompt_tokens_) {
    return fail(TurnError(ErrorKind::kRuntimeFailed, "the runtime does not tell how long the prompt is"));
  }
  if (plan_.turn().only_counts) {
    std::exchange(listener_, nullptr)->finished(Usage{.prompt = prompt_tokens_});
    return leave();
  }
  prefill_ = Prefill{report.prefill_tokens, report.prefill_ms};
  make_room();
}

// Runs the prompt in slices, as a warm-up does. When others wait for the model between two slices, they get it, and the
// counting fails.
void TurnMaker::count_slice() {
  if (listener_ == nullptr) return leave();
  if (model_->lease().others_wait()) return fail(TurnError::not_supported("", "others wait for the model"));
  const std::string& prompt = plan_.prompt().text;
  const bool is_one_run = plan_.uses_own_template() || surroundings_.options.warm_up_bytes == 0;
  if (!is_one_run && prompt.size() / kMostBytesOfToken > static_cast<std::size_t>(context()))
    return too_long(std::nullopt);
  const std::size_t known = model_->reusable_bytes(prompt);
  const std::size_t end = is_one_run ? prompt.size() : slice_end(prompt, known, surroundings_.options.warm_up_bytes);
  is_running_ = true;
  model_->run(
      prompt.substr(0, end), run_options(1), [](std::string_view) {},
      [this, is_last = end == prompt.size()](const RunReport& report) { slice_counted(report, is_last); });
}

void TurnMaker::slice_counted(const RunReport& report, bool is_last) {
  is_running_ = false;
  if (report.end == RunEnd::kFailed) {  // it has emptied the record; clear_template() makes that valid again
    return model_->clear_template([this, report](const std::string&) { run_failed(report); });
  }
  model_->has_only_counted();
  if (is_last || (report.end == RunEnd::kAborted && model_->facts().has_run_options)) return counted(report);
  count_slice();
}

TurnBeginning TurnMaker::beginning() const {
  TurnBeginning beginning;
  const ModelFacts& facts = model_->facts();
  if (!facts.has_run_options && wishes_something(plan_.turn().sampling)) {
    beginning.ignored.emplace_back("sampling");
  }
  if (plan_.turn().context && *plan_.turn().context != facts.max_context_len) {
    beginning.ignored.emplace_back("options.num_ctx");
  }
  if (!plan_.turn().conversation_field.empty()) beginning.ignored.push_back(plan_.turn().conversation_field);
  if (!plan_.honours_thinking() && !plan_.turn().thinking_field.empty()) {
    beginning.ignored.push_back(plan_.turn().thinking_field);
  }
  beginning.dropped_messages = plan_.dropped();
  beginning.usage.prompt = prompt_tokens_;
  beginning.usage.cached = cached_tokens(prompt_tokens_, prefill_ ? prefill_->tokens : std::nullopt);
  return beginning;
}

void TurnMaker::run(std::int64_t most_tokens) {
  if (!std::exchange(has_begun_, true)) listener_->begun(beginning());
  if (listener_ == nullptr) return leave();
  limit_ = most_tokens;
  run_first_token_at_.reset();
  const auto shown = model_->facts().shows_special_tokens ? SpecialTokens::kShown : SpecialTokens::kHidden;
  run_ = std::make_unique<AnswerRun>(
      plan_.family(), plan_.turn(), plan_.prompt(), plan_.schema(), [] { return new_id("call_"); }, shown);
  is_running_ = true;
  model_->run(
      plan_.prompt().text, run_options(most_tokens), [this](std::string_view bytes) { take(bytes); },
      [this](const RunReport& report) { run_ended(report); });
  if (has_fault("a turn is run twice at once"))
    model_->run(
        plan_.prompt().text, run_options(most_tokens), [](std::string_view /*text*/) {}, [](const RunReport&) {});
  if (is_held_) model_->hold();
}

void TurnMaker::tell(const std::vector<AnswerEvent>& events) {
  for (const AnswerEvent& event : events) {
    const bool is_call = std::holds_alternative<ToolCall>(event);
    if (is_call && has_fault("a call of a tool is lost behind a text")) continue;
    append(answer_, event);
    if (listener_ != nullptr) listener_->event(event, usages_.size());
    if (is_call && has_fault("a call of a tool is told twice")) listener_->event(event, usages_.size());
    if (is_call && has_fault("the space behind a call of a tool is told")) listener_->event(TextDelta{" "}, 0);
  }
}

void TurnMaker::take(std::string_view bytes) {
  if (listener_ == nullptr || run_->is_over()) return;
  const auto now = Clock::now();
  if (!run_first_token_at_) run_first_token_at_ = now;
  if (!first_token_at_) {
    first_token_at_ = now;
    const std::chrono::duration<double> waited = *first_token_at_ - begun_at_;
    if (surroundings_.first_token) surroundings_.first_token(model_->facts().handle, waited.count());
  }
  const std::vector<AnswerEvent> events = run_->take(bytes);
  const std::chrono::duration<double, std::milli> since_first = now - *run_first_token_at_;
  listener_->progress({run_->generated(), since_first.count(), run_->generated() - 1}, usages_.size());
  tell(events);
  if (listener_ != nullptr && run_->is_over()) model_->abort();
}

void TurnMaker::run_ended(const RunReport& report) {
  is_running_ = false;
  if (listener_ == nullptr) return leave();
  const bool has_failed =
      report.end == RunEnd::kFailed && !has_fault("a run that has failed is taken for one that has ended");
  if (has_failed) return run_failed(report);
  const bool is_unfinished = !run_->is_over() && run_->generated() < limit_;
  if (is_unfinished && report.end == RunEnd::kAborted) return cut_by_others();
  const bool was_cut = !run_->is_over() && !is_unfinished;
  answer_ended(report, run_->finish(was_cut));
}

// The turn fails: its answer is not whole, and a client could not see that in the answer.
void TurnMaker::cut_by_others() {
  fail(TurnError(ErrorKind::kRuntimeFailed, "the run was aborted by another call (rkllm_abort, say)"));
}

void TurnMaker::run_failed(const RunReport& report) {
  fail(TurnError(ErrorKind::kRuntimeFailed,
                 report.complaint.empty() ? "the runtime has failed, and does not say why" : report.complaint));
}

void TurnMaker::too_long(std::optional<std::int64_t> tokens) {
  fail(TurnError::context_exceeded(tokens, context()).of_field(plan_.turn().prompt_field));
}

void TurnMaker::fail(const TurnError& error) {
  if (TurnListener* const listener = std::exchange(listener_, nullptr)) listener->failed(error);
  leave();
}

void TurnMaker::leave() {
  const auto gone = gone_;  // a copy: the call destroys this object
  gone();
}

}  // namespace rkllm_mcp::chat
