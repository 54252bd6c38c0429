#include "transport/udp/udp_transport.hpp"

#include "clock.hpp"
#include "deadline.hpp"
#include "run_loop.hpp"
#include "transport/bytes/input_backlog.hpp"
#include "transport/bytes/socket_stream.hpp"

#include <asio/error.hpp>
#include <asio/ip/udp.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp {

namespace {

using Endpoint = asio::ip::udp::endpoint;

constexpr std::chrono::milliseconds kTick{1};
// Room for what arrives while the loop is busy; the system may grant less.
constexpr int kReceiveBufferBytes = 1024 * 1024;

// Such a source address comes from this machine: the kernel drops it when it arrives from elsewhere.
bool is_own(const asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address.is_loopback();
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).is_loopback();
}

// The lowest address of the machine that has this one; see source_of().
asio::ip::address lowest_of_machine(const asio::ip::address& address) {
  if (!address.is_v6() || address.to_v6().is_v4_mapped()) return address;
  constexpr std::size_t kNetworkBytes = 8;
  auto bytes = address.to_v6().to_bytes();
  std::fill(bytes.begin() + kNetworkBytes, bytes.end(), std::uint8_t{0});
  return asio::ip::address_v6(bytes);
}

bool is_same_machine(const Endpoint& one, const Endpoint& other) {
  return lowest_of_machine(one.address()) == lowest_of_machine(other.address());
}

}  // namespace

class UdpTransport::Socket : public std::enable_shared_from_this<Socket> {
 public:
  Socket(asio::io_context& io, const UdpOptions& options, AcceptFunction accept);

  void receive_next();
  // False if the system cannot take it now. What can never be sent counts as sent: UDP may lose.
  bool try_send(std::string_view message, const Endpoint& to);
  void tick_for(UdpPeer& peer);
  void was_active(const UdpPeer& peer);
  void forget(const UdpPeer& peer);
  void close_all();
  void abort_all();
  void stop();
  void discard();

  std::uint16_t port() const { return port_; }
  std::size_t peer_count() const { return peers_.size(); }
  const UdpOptions& options() const { return options_; }

 private:
  using PeerList = std::list<std::shared_ptr<UdpPeer>>;

  void receive_some();
  void received(std::string_view message, const Endpoint& from);
  // Null for a newcomer that finds no place.
  std::shared_ptr<UdpPeer> peer_at(const Endpoint& remote);
  // Forgets one that may go; false if there is none.
  template <class Predicate>
  bool make_room(const Predicate& may_go);
  std::size_t neighbours_of(const Endpoint& remote) const;
  void forget_unreachable();
  void forget_silent();
  void tick();

  const UdpOptions options_;
  const AcceptFunction accept_;
  asio::ip::udp::socket socket_;
  std::uint16_t port_ = 0;
  bool receiving_ = true;
  std::array<char, 65'536> buffer_{};  // longer than any datagram

  PeerList by_activity_;  // the most recently active first
  std::map<Endpoint, PeerList::iterator> peers_;
  Deadline silence_;

  std::vector<std::weak_ptr<UdpPeer>> pacing_;  // those that have used some of their burst
  Deadline tick_;
};

class UdpTransport::UdpPeer final : public ConnectedPeer {
 public:
  UdpPeer(Socket& socket, Endpoint remote)
      : ConnectedPeer({.transport = TransportKind::kUdp,
                       .address = to_text(remote),
                       .max_message_bytes = kMaxDatagramBytes,
                       .preferred_chunk_bytes = socket.options().chunk_bytes}),
        socket_(socket.weak_from_this()),
        remote_(std::move(remote)),
        burst_left_(socket.options().udp_burst) {
    if (socket.options().loopback_is_proof && is_own(remote_.address())) prove();
  }

  void send(std::string_view message) override;
  void last(std::string message, std::optional<ErrorCode> /*error*/) override {
    send(message);
    none();
  }
  void none() override { expected_ -= std::min<std::size_t>(expected_, 1); }
  void expected() override { ++expected_; }
  bool ready() const override { return waiting_.empty() && burst_left_ > 0; }
  bool has_room_for(std::size_t /*bytes*/) const override { return true; }  // what waits is bounded, not counted
  void close() override;
  void refuse() override {}
  bool closed() const override { return closing_; }

  const Endpoint& remote() const { return remote_; }
  bool awaits_answer() const { return expected_ > 0; }
  void receive(const Received& received, std::size_t bytes);
  void set_receive(ReceiveFunction receive) { receive_ = std::move(receive); }
  // A millisecond has passed. False if nothing had to be caught up, so that no further tick is needed.
  bool tick();
  void forgotten();  // once, when the socket has let go of the peer
  void discard();

  // The socket's notes about the peer.
  Clock::time_point last_active = Clock::now();
  bool awaits_tick = false;

 private:
  void input_resumed() override {}  // datagrams come in no order

  const std::weak_ptr<Socket> socket_;
  const Endpoint remote_;
  ReceiveFunction receive_;
  std::deque<std::string> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::size_t burst_left_;
  std::size_t expected_ = 0;  // answers
  bool closing_ = false;
  std::size_t allowance_ = kSmallErrorBytes;  // bytes that may still be sent while it is not proved
};

void UdpTransport::UdpPeer::receive(const Received& received, std::size_t bytes) {
  if (closing_) return;
  allowance_ += kAnswerFactor * bytes;
  receive_(received);
}

void UdpTransport::UdpPeer::send(std::string_view message) {
  const auto socket = socket_.lock();
  if (closing_ || !socket || message.size() > kMaxDatagramBytes) return;
  Counts* const counts = socket->options().counts;
  if (!has_proved()) {
    if (message.size() > allowance_) return count(counts, &Counts::dropped_datagrams);
    allowance_ -= message.size();
  }
  if (ready() && socket->try_send(message, remote_)) {
    --burst_left_;
  } else if (waiting_bytes_ + message.size() <= socket->options().send_queue_bytes) {
    waiting_.emplace_back(message);
    waiting_bytes_ += message.size();
  } else {
    count(counts, &Counts::dropped_datagrams);
  }
  socket->was_active(*this);
  socket->tick_for(*this);
}

bool UdpTransport::UdpPeer::tick() {
  const auto socket = socket_.lock();
  if (!socket) return false;
  const bool was_busy = !ready();
  const auto burst = socket->options().udp_burst;
  const bool was_used = burst_left_ < burst || !waiting_.empty();
  burst_left_ = burst;
  while (!waiting_.empty() && burst_left_ > 0 && socket->try_send(waiting_.front(), remote_)) {
    waiting_bytes_ -= waiting_.front().size();
    waiting_.pop_front();
    --burst_left_;
  }
  if (closing_ && waiting_.empty()) {
    socket->forget(*this);
    return false;
  }
  if (was_busy && ready() && !closing_) became_ready();
  return was_used;
}

void UdpTransport::UdpPeer::close() {
  if (closing_) return;
  closing_ = true;
  if (const auto socket = socket_.lock()) socket->tick_for(*this);
}

void UdpTransport::UdpPeer::forgotten() {
  closing_ = true;
  waiting_.clear();
  became_closed();
  receive_ = nullptr;  // it may hold what holds this peer
}

void UdpTransport::UdpPeer::discard() {
  closing_ = true;
  receive_ = nullptr;
}

UdpTransport::Socket::Socket(asio::io_context& io, const UdpOptions& options, AcceptFunction accept)
    : options_(options),
      accept_(std::move(accept)),
      socket_(io),
      silence_(io, [this] { forget_silent(); }),
      tick_(io, [this] { tick(); }) {
  const auto name = name_of(TransportKind::kUdp);
  const Endpoint endpoint(parse_address(name, options.listen), options.listen.port);
  std::error_code error;
  const int handed = options.listen.handed;
  if (handed >= 0) {
    socket_.assign(family_of(handed) == AF_INET6 ? asio::ip::udp::v6() : asio::ip::udp::v4(), handed, error);
  } else {
    socket_.open(endpoint.protocol(), error);
    if (!error) socket_.bind(endpoint, error);
  }
  if (!error) socket_.non_blocking(true, error);
  if (!error) port_ = socket_.local_endpoint(error).port();
  if (error) throw ListenError(name, options.listen, error);
  std::error_code ignored;
  socket_.set_option(asio::socket_base::receive_buffer_size(kReceiveBufferBytes), ignored);
  report_udp_errors(socket_);
}

void UdpTransport::Socket::receive_next() {
  socket_.async_wait(asio::socket_base::wait_read, [self = shared_from_this()](const std::error_code& error) {
    if (error || !self->receiving_) return;
    const auto go_on = [&self] {
      if (self->receiving_) self->receive_next();
    };
    or_else([&] { self->receive_some(); }, go_on);
    go_on();
  });
}

void UdpTransport::Socket::receive_some() {
  forget_unreachable();
  for (InputSlice slice; receiving_ && !slice.is_over(); slice.count_message()) {
    Endpoint from;
    std::error_code error;
    const auto bytes = socket_.receive_from(asio::buffer(buffer_), from, 0, error);
    if (error == asio::error::would_block) return;
    if (!error) received({buffer_.data(), bytes}, from);  // an error here is about something sent earlier
  }
}

void UdpTransport::Socket::received(std::string_view message, const Endpoint& from) {
  const auto peer = peer_at(from);
  if (!peer) return;
  was_active(*peer);
  const bool is_oversized = message.size() > options_.max_message_bytes;
  const Received received =
      is_oversized ? Received(Oversized{message.size(), options_.max_message_bytes}) : Received(message);
  or_else([&] { peer->receive(received, message.size()); }, [&] { forget(*peer); });
}

std::shared_ptr<UdpTransport::UdpPeer> UdpTransport::Socket::peer_at(const Endpoint& remote) {
  if (const auto known = peers_.find(remote); known != peers_.end()) return *known->second;
  // First its own machine's bound: where that makes room, nobody else has to go.
  const auto is_neighbour = [&remote](const UdpPeer& peer) { return is_same_machine(peer.remote(), remote); };
  if (neighbours_of(remote) >= options_.max_peers_per_address) {
    count(options_.counts, Limit::kConnectionsPerPeer);
    if (!make_room(is_neighbour)) return nullptr;
  }
  if (peers_.size() >= options_.max_peers) {
    count(options_.counts, Limit::kConnections);
    if (!make_room([](const UdpPeer&) { return true; })) return nullptr;
  }
  auto peer = std::make_shared<UdpPeer>(*this, remote);
  by_activity_.push_front(peer);
  peers_[remote] = by_activity_.begin();
  if (peers_.size() == 1) silence_.set_after(options_.idle);
  or_else([&] { peer->set_receive(accept_(*peer)); }, [&] { forget(*peer); });
  return peer;
}

bool UdpTransport::Socket::try_send(std::string_view message, const Endpoint& to) {
  std::error_code error;
  socket_.send_to(asio::buffer(message.data(), message.size()), to, 0, error);
  // The error of an earlier datagram, to whomever, is reported here instead of sending this one.
  const bool is_busy = error == asio::error::would_block || error == asio::error::no_buffer_space;
  if (error && !is_busy) socket_.send_to(asio::buffer(message.data(), message.size()), to, 0, error);
  return error != asio::error::would_block && error != asio::error::no_buffer_space;
}

void UdpTransport::Socket::was_active(const UdpPeer& peer) {
  const auto known = peers_.find(peer.remote());
  if (known == peers_.end()) return;
  (*known->second)->last_active = Clock::now();
  by_activity_.splice(by_activity_.begin(), by_activity_, known->second);
}

void UdpTransport::Socket::forget(const UdpPeer& peer) {
  const auto known = peers_.find(peer.remote());
  if (known == peers_.end() || known->second->get() != &peer) return;
  const auto forgotten = *known->second;
  by_activity_.erase(known->second);
  peers_.erase(known);
  forgotten->forgotten();
}

// Addresses can be forged at no cost, so peers that have not proved theirs go first, the one that has been silent
// longest before the others. A peer that waits for an answer does not go.
template <class Predicate>
bool UdpTransport::Socket::make_room(const Predicate& may_go) {
  const auto end = by_activity_.rend();
  const auto is_idle = [&](const auto& peer) { return !peer->awaits_answer() && may_go(*peer); };
  auto found =
      std::find_if(by_activity_.rbegin(), end, [&](const auto& peer) { return !peer->has_proved() && is_idle(peer); });
  if (found == end) found = std::find_if(by_activity_.rbegin(), end, is_idle);
  if (found == end) return false;
  const auto forgotten = *found;
  forget(*forgotten);
  return true;
}

std::size_t UdpTransport::Socket::neighbours_of(const Endpoint& remote) const {
  const auto first = peers_.lower_bound(Endpoint(lowest_of_machine(remote.address()), 0));  // they stand side by side
  const auto last =
      std::find_if(first, peers_.end(), [&remote](const auto& entry) { return !is_same_machine(entry.first, remote); });
  return static_cast<std::size_t>(std::distance(first, last));
}

void UdpTransport::Socket::forget_unreachable() {
  for (const auto& remote : take_udp_errors(socket_)) {
    if (const auto known = peers_.find(remote); known != peers_.end()) forget(**known->second);
  }
}

void UdpTransport::Socket::forget_silent() {
  const auto now = Clock::now();
  while (!by_activity_.empty() && by_activity_.back()->last_active + options_.idle <= now) forget(*by_activity_.back());
  if (!by_activity_.empty()) silence_.set_at(by_activity_.back()->last_active + options_.idle);
}

void UdpTransport::Socket::tick_for(UdpPeer& peer) {
  if (std::exchange(peer.awaits_tick, true)) return;
  pacing_.push_back(std::static_pointer_cast<UdpPeer>(peer.shared_from_this()));
  if (pacing_.size() == 1) tick_.set_after(kTick);
}

void UdpTransport::Socket::tick() {
  // Peers that become ready send at once and so ask for the next tick.
  std::exception_ptr fault;
  for (const auto& weak : std::exchange(pacing_, {})) {
    const auto peer = weak.lock();
    if (!peer) continue;  // it has been forgotten
    peer->awaits_tick = false;
    try {
      if (peer->tick()) tick_for(*peer);
    } catch (...) {
      fault = std::current_exception();
      forget(*peer);
    }
  }
  if (fault) std::rethrow_exception(fault);
}

void UdpTransport::Socket::close_all() {
  const auto peers = by_activity_;
  for (const auto& peer : peers) peer->close();
}

void UdpTransport::Socket::abort_all() {
  while (!by_activity_.empty()) forget(*by_activity_.back());
}

void UdpTransport::Socket::stop() {
  receiving_ = false;
  socket_.cancel();
}

void UdpTransport::Socket::discard() {
  receiving_ = false;
  for (const auto& peer : by_activity_) peer->discard();
  by_activity_.clear();
  peers_.clear();
  pacing_.clear();
  std::error_code ignored;
  socket_.close(ignored);
}

UdpTransport::UdpTransport(asio::io_context& io, const UdpOptions& options, AcceptFunction accept)
    : socket_(std::make_shared<Socket>(io, options, std::move(accept))) {
  socket_->receive_next();
}

UdpTransport::~UdpTransport() { socket_->discard(); }

std::uint16_t UdpTransport::port() const { return socket_->port(); }
std::size_t UdpTransport::connection_count() const { return socket_->peer_count(); }
void UdpTransport::stop() { socket_->stop(); }
void UdpTransport::close_all() { socket_->close_all(); }
void UdpTransport::abort_all() { socket_->abort_all(); }

}  // namespace rkllm_mcp
