#include "watch/watched_backend.hpp"

#include "clock.hpp"
#include "jsonrpc/envelope.hpp"
#include "jsonrpc/message.hpp"

#include <rkllm_mcp/errors.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {
namespace {

// Milliseconds with three digits behind the point.
double milliseconds_between(Clock::time_point from, Clock::time_point to) {
  return static_cast<double>(std::chrono::duration_cast<std::chrono::microseconds>(to - from).count()) / 1000;
}

std::string outcome_of(const CallOutcome& outcome) {
  if (outcome.error) return std::to_string(static_cast<int>(as_rpc_error(outcome.error).code()));
  return outcome.aborted ? "aborted" : "ok";
}

}  // namespace

Json fields_of(const RequestSource& source) {
  Json id = id_value(source.id);
  if (id.is_string()) id = shortened(id.get_ref<const std::string&>());
  return Json{{"id", std::move(id)}, {"transport", source.transport}, {"peer", source.peer}};
}

// Stands between a call and the call's observer, whose place it takes, and hands on everything that it is told.
class WatchedBackend::Watch final : public CallObserver {
 public:
  Watch(const WatchedBackend& backend, CallRequest& request, AskedBy asked_by)
      : observer_(std::move(request.observer)),
        notes_(backend.notes_),
        method_(request.method->name),
        source_(request.source),
        asked_by_(asked_by) {}

  void on_queued(std::size_t calls_before) noexcept override {
    notes_->moved({});
    observer_->on_queued(calls_before);
  }

  void on_begun(std::optional<std::uint64_t> token_limit) noexcept override {
    begun_ = Clock::now();
    notes_->metrics.queue_wait.add(seconds_between(asked_, *begun_));
    notes_->moved({});
    observer_->on_begun(token_limit);
  }

  void on_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t token_id) noexcept override {
    note_token();
    observer_->on_token(batch, text, token_id);
  }

  bool offer_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t token_id,
                   const std::function<void()>& on_room) noexcept override {
    if (!std::exchange(is_noted_, true)) note_token();
    const bool is_taken = observer_->offer_token(batch, text, token_id, on_room);
    is_noted_ = !is_taken;
    return is_taken;
  }

  void on_rows(const FloatRows& rows) noexcept override { observer_->on_rows(rows); }

  void on_done(CallOutcome outcome) noexcept override {
    const std::string ending = outcome_of(outcome);
    notes_->metrics.count_call(method_, ending);
    // Names of handles are used again, and not every model that goes is destroyed by a call.
    const bool changes_hands = method_ == "rkllm_destroy" || method_ == "rkllm_init";
    if (changes_hands && !outcome.error) notes_->metrics.forget(outcome.handle);
    if (tokens_ > 0 && asked_by_ == AskedBy::kClient) {
      notes_->metrics.note_first_token(outcome.handle, first_token_s_);
    }
    notes_->report([&] { return fields(outcome.handle, ending); });
    notes_->moved(outcome.handle);
    observer_->on_done(std::move(outcome));
  }

  void stop() noexcept override { observer_->stop(); }
  bool wants_to_stop() const noexcept override { return observer_->wants_to_stop(); }

 private:
  void note_token() {
    const auto now = Clock::now();
    if (tokens_++ == 0) {
      first_token_s_ = seconds_between(asked_, now);
      notes_->metrics.time_to_first_token.add(first_token_s_);
    } else {
      notes_->metrics.token_interval.add(seconds_between(last_token_, now));
    }
    last_token_ = now;
    notes_->metrics.count_token();
  }

  Json fields(const std::string& handle, const std::string& ending) const {
    Json fields = fields_of(source_);
    fields["method"] = method_;
    fields["handle"] = handle.empty() ? Json(nullptr) : Json(handle);
    if (begun_) {
      fields["queue_ms"] = milliseconds_between(asked_, *begun_);
      fields["tokens"] = tokens_;
    }
    fields["total_ms"] = milliseconds_between(asked_, Clock::now());
    fields["outcome"] = ending;
    return fields;
  }

  const std::shared_ptr<CallObserver> observer_;
  const std::shared_ptr<Notes> notes_;
  const std::string_view method_;
  const RequestSource source_;
  const AskedBy asked_by_;
  const Clock::time_point asked_ = Clock::now();
  std::optional<Clock::time_point> begun_;
  Clock::time_point last_token_;
  double first_token_s_ = 0;  // from the request
  std::uint64_t tokens_ = 0;
  bool is_noted_ = false;  // the token that is being offered
};

CallRequest WatchedBackend::watched(CallRequest request) const {
  return watched_for(AskedBy::kServer, std::move(request));
}

CallRequest WatchedBackend::watched_for(AskedBy asked_by, CallRequest request) const {
  request.observer = std::make_shared<Watch>(*this, request, asked_by);
  return request;
}

Backend::CallId WatchedBackend::start(CallRequest request) {
  return backend_.start(watched_for(AskedBy::kClient, std::move(request)));
}

}  // namespace rkllm_mcp
