#include "models/model_place.hpp"

#include "backend/logged_errors.hpp"
#include "jsonrpc/envelope.hpp"
#include "run_loop.hpp"

#include <asio/post.hpp>

#include <new>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::int64_t kRetryAfterS = 5;
constexpr int kMostTries = 3;

chat::ErrorKind kind_of(const RpcError& error) {
  if (error.code() == ErrorCode::kQueueFull) return chat::ErrorKind::kQueueFull;
  return error.code() == ErrorCode::kUnknownHandle ? chat::ErrorKind::kUnknownModel : chat::ErrorKind::kRuntimeFailed;
}

class TurnLease final : public chat::ModelLease {
 public:
  explicit TurnLease(LeaseSource source)
      : source_(std::move(source)),
        model_(source_.loop, source_.runtime, source_.stream, source_.lease, source_.loaded) {}
  ~TurnLease() override { source_.give_back(); }

  chat::ModelSeam& model() override { return model_; }
  std::uint64_t load_number() const override { return source_.load; }
  bool others_wait() const override { return source_.others_wait(); }
  std::optional<double> load_ms() const override { return source_.load_ms; }

 private:
  const LeaseSource source_;
  LeasedTurnModel model_;
};

class LeaseForEmbeddings final : public chat::EmbeddingLease {
 public:
  explicit LeaseForEmbeddings(LeaseSource source)
      : source_(std::move(source)),
        model_(source_.loop, source_.runtime, source_.stream, source_.lease, source_.loaded) {}
  ~LeaseForEmbeddings() override { source_.give_back(); }

  chat::EmbeddingSeam& model() override { return model_; }
  std::optional<double> load_ms() const override { return source_.load_ms; }

 private:
  const LeaseSource source_;
  LeasedEmbeddingModel model_;
};

}  // namespace

bool LeaseSource::others_wait() const {
  if (slot && slot->waiting() > 0) return true;
  const auto use = runtime.queue->use_of(loaded.handle);
  return use && use->waiting > 0;
}

void LeaseSource::give_back() const {
  runtime.queue->end_lease(lease);
  if (slot) slot->end_use(load, keep_alive);
}

// Brings what the backend tells of a lease to the loop.
class ModelPlace::LeaseObserver final : public CallObserver {
  template <class Act>
  auto unless_ended(Act act) const {
    return [place = place_, act = std::move(act)] {
      const auto alive = place.lock();
      if (alive && alive->state_ == State::kQueued) act(*alive);
    };
  }

 public:
  LeaseObserver(asio::io_context& loop, std::weak_ptr<ModelPlace> place) : loop_(loop), place_(std::move(place)) {}
  void on_queued(std::size_t calls_before) noexcept override {
    try {
      asio::post(loop_, unless_ended([calls_before](ModelPlace& place) {
                   if (place.events_.queued) place.events_.queued(calls_before);
                 }));
    } catch (const std::bad_alloc&) {  // the next one tells more
    }
  }
  void on_begun(std::optional<std::uint64_t>) noexcept override {
    post_patiently(loop_, unless_ended([](ModelPlace& place) { place.grant(); }));
  }
  void on_token(std::size_t, std::optional<std::string_view>, std::int32_t) noexcept override {}
  void on_rows(const FloatRows&) noexcept override {}
  void on_done(CallOutcome outcome) noexcept override {
    if (!outcome.error) return;
    post_patiently(
        loop_, unless_ended([error = outcome.error](ModelPlace& place) { place.lease_refused(as_rpc_error(error)); }));
  }

 private:
  asio::io_context& loop_;
  const std::weak_ptr<ModelPlace> place_;
};

void ModelPlace::begin() {
  if (source_.slot) return source_.slot->add(shared_from_this());
  if (events_.wants_lease) return enter_queue();
  asio::post(source_.loop, [weak = weak_from_this()] {
    const auto alive = weak.lock();
    if (alive && alive->state_ == State::kWaiting) alive->grant();
  });
}

void ModelPlace::ready(const std::string& handle, std::uint64_t load, std::optional<double> load_ms) {
  source_.runtime = source_.slot->runtime();
  source_.loaded.handle = handle;
  source_.loaded.model = source_.slot->model();
  source_.loaded.param = source_.slot->param();
  source_.load = load;
  if (load_ms) source_.load_ms = load_ms;
  if (state_ == State::kOver) return source_.slot->end_use(load, {});
  if (events_.wants_lease) return enter_queue();
  grant();
}

void ModelPlace::loading(const chat::LoadProgress& progress) {
  if (state_ != State::kOver && events_.loading) events_.loading(progress);
}

void ModelPlace::grant() {
  state_ = State::kOver;
  events_.granted(std::move(source_));
}

void ModelPlace::enter_queue() {
  state_ = State::kQueued;
  CallRequest request;
  request.source.peer = wish_.peer;
  request.source.holder = wish_.asker.name;
  request.observer = std::make_shared<LeaseObserver>(source_.loop, weak_from_this());
  source_.lease = source_.runtime.queue->lease(source_.loaded.handle, std::move(request));
}

void ModelPlace::lease_refused(const RpcError& why) {
  const bool has_gone = why.code() == ErrorCode::kUnknownHandle || why.code() == ErrorCode::kRuntimeUnavailable;
  if (source_.slot) {
    source_.slot->end_use(source_.load, {});
    if (has_gone && ++tries_ < kMostTries) {
      source_.slot->lost(source_.loaded.handle);
      state_ = State::kWaiting;
      return source_.slot->add(shared_from_this());
    }
  }
  state_ = State::kOver;
  events_.failed(turn_error(kind_of(why), why.what()));
}

void ModelPlace::failed(const LoadFailure& failure) {
  if (std::exchange(state_, State::kOver) == State::kOver) return;
  events_.failed(turn_error(failure.kind, "model " + source_.slot->title() + " could not be loaded: " +
                                              with_last_log_line(failure.error.what(), failure.error.data())));
}

void ModelPlace::give_up() {
  const State was = std::exchange(state_, State::kOver);
  switch (was) {
    case State::kOver: break;
    case State::kWaiting:
      if (source_.slot) source_.slot->remove(this);
      break;
    case State::kQueued:
      source_.runtime.queue->end_lease(source_.lease);
      if (source_.slot) source_.slot->end_use(source_.load, {});
      break;
  }
}

std::unique_ptr<chat::ModelLease> make_turn_lease(LeaseSource source) {
  return std::make_unique<TurnLease>(std::move(source));
}

std::unique_ptr<chat::EmbeddingLease> make_embedding_lease(LeaseSource source) {
  return std::make_unique<LeaseForEmbeddings>(std::move(source));
}

chat::TurnError turn_error(chat::ErrorKind kind, const std::string& message) {
  if (kind == chat::ErrorKind::kQueueFull || kind == chat::ErrorKind::kNoRoom) {
    return chat::TurnError::try_later(kind, message, kRetryAfterS);
  }
  return {kind, message};
}

}  // namespace rkllm_mcp
