// One place in a model's queue: waits until the model is loaded, then in the queue of its handle, then gives a lease;
// or ends as soon as the model is loaded, if no lease is wanted.
//
// Event loop only.
#pragma once

#include "backend.hpp"
#include "chat/turn/model_lender.hpp"
#include "models/leased_seams.hpp"
#include "models/model_slot.hpp"
#include "stream/token_stream.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

namespace rkllm_mcp {

// Where a lease comes from, and how it is given back.
struct LeaseSource {
  asio::io_context& loop;
  ModelRuntime runtime{};
  TokenStream::Options stream{};
  std::shared_ptr<ModelSlot> slot{};  // null: a handle that rkllm_init has made
  LoadedFacts loaded{};
  std::uint64_t load = 0;
  Backend::CallId lease = 0;
  std::optional<chat::KeepAlive> keep_alive{};
  std::optional<double> load_ms{};

  bool others_wait() const;
  void give_back() const;
};

class ModelPlace : public ModelWaiter, public std::enable_shared_from_this<ModelPlace> {
 public:
  ModelPlace(LeaseSource source, chat::PlaceWish wish) : source_(std::move(source)), wish_(std::move(wish)) {
    source_.keep_alive = wish_.keep_alive;
  }

  // Begins to wait: for source.slot to load the model, or, without a slot, in the queue of source.loaded.handle.
  void begin();
  // The place is given up if it has not become a lease. After that nobody is called.
  void give_up();

  const std::string& holder() const override { return wish_.asker.name; }
  void ready(const std::string& handle, std::uint64_t load, std::optional<double> load_ms) override;
  void failed(const LoadFailure& failure) override;

 protected:
  virtual bool wants_lease() const = 0;
  virtual void granted(LeaseSource source) = 0;
  virtual void refused(const chat::TurnError& error) = 0;
  bool is_over() const { return state_ == State::kOver; }

 private:
  class LeaseObserver;
  enum class State { kWaiting, kQueued, kOver };

  void enter_queue();
  void end_granted();
  void lease_granted();
  void lease_refused(const RpcError& why);

  LeaseSource source_;
  const chat::PlaceWish wish_;
  State state_ = State::kWaiting;
  int tries_ = 0;
  Backend::CallId lease_ = 0;
};

template <typename Lease>
class PlaceOf final : public ModelPlace {
 public:
  using Make = std::function<std::unique_ptr<Lease>(LeaseSource source)>;
  PlaceOf(LeaseSource source, chat::PlaceWish wish, chat::PlaceEvents<Lease> events, Make make)
      : ModelPlace(std::move(source), std::move(wish)), events_(std::move(events)), make_(std::move(make)) {}

  void queued(std::size_t users_before) override {
    if (!is_over() && events_.queued) events_.queued(users_before);
  }
  void loading(const chat::LoadProgress& progress) override {
    if (!is_over() && events_.loading) events_.loading(progress);
  }

 protected:
  bool wants_lease() const override { return !std::is_same_v<Lease, chat::OnlyLoaded>; }
  void granted(LeaseSource source) override { events_.granted(make_(std::move(source))); }
  void refused(const chat::TurnError& error) override { events_.failed(error); }

 private:
  const chat::PlaceEvents<Lease> events_;
  const Make make_;
};

// Held by whoever has asked for the place; its destruction gives the place up.
class HeldPlace final : public chat::QueuePlace {
 public:
  explicit HeldPlace(ModelPlace& place) : place_(place.shared_from_this()) {}
  ~HeldPlace() override { place_->give_up(); }

 private:
  const std::shared_ptr<ModelPlace> place_;
};

std::unique_ptr<chat::ModelLease> make_turn_lease(LeaseSource source);
std::unique_ptr<chat::EmbeddingLease> make_embedding_lease(LeaseSource source);
std::unique_ptr<chat::OnlyLoaded> end_load(LeaseSource source);

// An error for the chat host; kinds that pass with time say when to try again.
chat::TurnError turn_error(chat::ErrorKind kind, const std::string& message);

}  // namespace rkllm_mcp
