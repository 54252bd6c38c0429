#include "dispatch/paired_http.hpp"

#include "auth/owner.hpp"
#include "deadline.hpp"
#include "dispatch/http_sessions.hpp"
#include "dispatch/server_sent_events.hpp"
#include "random_bytes.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string_view>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::string_view kIdParameter = "session_id=";

std::string_view id_in(std::string_view query) {
  const auto at = query.find(kIdParameter);
  if (at == std::string_view::npos || (at > 0 && query[at - 1] != '&')) return {};
  const std::string_view rest = query.substr(at + kIdParameter.size());
  return rest.substr(0, rest.find('&'));
}

}  // namespace

// The event stream of one client, as its connection.
class PairedHttp::Client final : public ConnectedPeer {
 public:
  Client(asio::io_context& loop, MemoryBudget memory, http::Exchange& exchange, std::string remote, std::string token,
         std::string whose)
      : ConnectedPeer(
            {.transport = TransportKind::kHttp, .address = std::move(remote), .credential = std::move(token)}),
        owner(std::move(whose)),
        memory_(std::move(memory)),
        exchange_(exchange.shared_from_this()),
        silence_(loop, [this] {
          if (closing_) return has_left();
          silence_.set_after(kBetweenEventComments);  // first: without memory for a comment the next one is tried
          exchange_->write(kEventComment);
        }) {}

  void begin(const std::string& address) {
    exchange_->start_stream(200, event_stream_headers({}));
    exchange_->write(event_of(address, {}, "endpoint"));
    silence_.set_after(kBetweenEventComments);
  }
  void has_left() {
    const auto self = shared_from_this();  // the table lets go of it meanwhile
    silence_.clear();
    became_closed();
  }
  // Keeps the body until it is its turn; then answers the exchange with 202, and hands the message on.
  void take(std::string body, http::Exchange& exchange) {
    MemoryShare share(memory_);
    if (!share.grow(body.size())) return exchange.respond(refusal(503, no_memory().what()));
    waiting_.push_back({std::move(body), exchange.shared_from_this(), std::move(share)});
    take_next();
  }
  void set_receiver(ReceiveFunction receive) { receive_ = std::move(receive); }

  void send(std::string_view message) override {
    if (closed()) return;
    exchange_->write(event_of(message));
    silence_.set_after(kBetweenEventComments);
    if (!exchange_->ready()) watch();
  }
  void close() override {
    if (std::exchange(closing_, true)) return;
    silence_.set_after({});  // without delay: its callback calls became_closed(), which must not be called in here
    exchange_->finish();
  }
  bool ready() const override { return exchange_->ready(); }
  bool closed() const override { return closing_ || exchange_->closed(); }
  bool has_room_for(std::size_t bytes) const override { return exchange_->has_room_for(bytes); }

  const std::string owner;

 private:
  void input_resumed() override { take_next(); }
  void watch() {
    if (std::exchange(watching_, true)) return;
    exchange_->when_ready([weak = weak_from_this()] {
      const auto self = std::static_pointer_cast<Client>(weak.lock());
      if (!self) return;
      self->watching_ = false;
      self->became_ready();
    });
  }

  struct Waiting {
    std::string body;
    std::shared_ptr<http::Exchange> exchange;
    MemoryShare share;  // of the body
  };

  void take_next() {
    while (!input_is_held() && !waiting_.empty()) {
      Waiting next = std::move(waiting_.front());
      waiting_.pop_front();
      next.share.set(0);  // who receives it takes a share of its own
      next.exchange->respond({202, {}, "text/plain", "Accepted"});
      receive_(std::string_view(next.body));
    }
  }

  const MemoryBudget memory_;  // that waiting bodies count in
  const std::shared_ptr<http::Exchange> exchange_;
  ReceiveFunction receive_;
  std::deque<Waiting> waiting_;  // one for each HTTP connection, at most: it is not read on before its 202
  bool watching_ = false;
  bool closing_ = false;
  Deadline silence_;
};

void PairedHttp::open(const http::Request& request, http::Exchange& exchange) {
  const std::string owner = owner_of(request.principal, request.remote);
  const auto is_own = [&owner](const auto& entry) { return entry.second->owner == owner; };
  const auto own = std::ranges::count_if(clients_, is_own);
  if (clients_.size() >= kMost || static_cast<std::size_t>(own) >= kMostOfOne) {
    return exchange.respond(refusal(503, "too many event streams are open"));
  }
  const std::string id = new_id();
  const auto client =
      std::make_shared<Client>(loop_, memory_, exchange, request.remote, std::string(request.bearer_token()), owner);
  clients_.emplace(id, client);
  client->begin("/messages?" + std::string(kIdParameter) + id);
  client->when_closed([this, id, alive = alive_.watch()] {
    if (!alive.expired()) clients_.erase(id);
  });
  client->set_receiver(accept_(*client));
  exchange.when_closed([weak = std::weak_ptr(client)] {
    if (const auto alive = weak.lock()) alive->has_left();
  });
}

void PairedHttp::take(const http::Request& request, http::Exchange& exchange) {
  const auto found = clients_.find(id_in(request.query));
  const auto client = found == clients_.end() ? nullptr : found->second;
  if (!client || client->facts().credential != request.bearer_token()) return exchange.respond(no_such_session());
  client->take(request.body, exchange);
}

}  // namespace rkllm_mcp
