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
#include <utility>

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

class ModelPlace final : public ModelWaiter, public std::enable_shared_from_this<ModelPlace> {
 public:
  // As chat::PlaceEvents; `granted` makes the lease.
  struct Events {
    std::function<void(std::size_t places_before)> queued{};
    std::function<void(const chat::LoadProgress&)> loading{};
    std::function<void(LeaseSource source)> granted{};
    std::function<void(const chat::TurnError&)> failed{};
    bool wants_lease = true;  // if not, it is granted as soon as the model is loaded
  };

  ModelPlace(LeaseSource source, chat::PlaceWish wish, Events events)
      : source_(std::move(source)), wish_(std::move(wish)), events_(std::move(events)) {
    source_.keep_alive = wish_.keep_alive;
  }

  // Begins to wait: for source.slot to load the model, or, without a slot, in the queue of source.loaded.handle.
  void begin();
  // The place is given up if it has not become a lease. After that nobody is called.
  void give_up();

  const std::string& holder() const override { return wish_.asker.name; }
  void loading(const chat::LoadProgress& progress) override;
  void ready(const std::string& handle, std::uint64_t load, std::optional<double> load_ms) override;
  void failed(const LoadFailure& failure) override;

 private:
  class LeaseObserver;
  enum class State { kWaiting, kQueued, kOver };

  void enter_queue();
  void grant();
  void lease_refused(const RpcError& why);

  LeaseSource source_;
  const chat::PlaceWish wish_;
  const Events events_;
  State state_ = State::kWaiting;
  int tries_ = 0;
};

std::unique_ptr<chat::ModelLease> make_turn_lease(LeaseSource source);
std::unique_ptr<chat::EmbeddingLease> make_embedding_lease(LeaseSource source);

// An error for the chat host; kinds that pass with time say when to try again.
chat::TurnError turn_error(chat::ErrorKind kind, const std::string& message);

}  // namespace rkllm_mcp
