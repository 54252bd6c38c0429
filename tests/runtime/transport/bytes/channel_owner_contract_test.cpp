// What every Channel::Owner does when its channel closes, whatever the cause: held against each of them over a socket.
#include "../loop_thread.hpp"
#include "dispatch/http_peer.hpp"
#include "support/catch.hpp"
#include "support/client_frames.hpp"
#include "support/raw_socket.hpp"
#include "support/usual_limits.hpp"
#include "transport/bytes/channel.hpp"
#include "transport/bytes/socket_stream.hpp"
#include "transport/http/http_connection.hpp"
#include "transport/lines/line_connection.hpp"
#include "transport/websocket/websocket_connection.hpp"

#include <asio/ip/tcp.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace rkllm_mcp::test {
namespace {

// A channel with its owner, and the layer above that, which sends "{before}" when the client has said something.
struct OfOneOwner {
  OfOneOwner() {
    loop.before_end([this] {
      peer.reset();
      if (channel) channel->discard();
      channel.reset();
    });
  }

  template <class Start>
  void begin(Start start) {
    loop.call([&] {
      const auto limits = usual_limits<ConnectionLimits>();
      channel = std::make_shared<Channel>(loop.io(),
                                          std::make_unique<SocketStream>(acceptor_.accept(loop.io()), limits), limits);
      weak_channel = channel;
      channel->when_finished([this] {
        ++finished;
        told_as_it_finished = told;
      });
      start(*channel, limits);
    });
  }
  void follow(const std::shared_ptr<Peer>& accepted) {
    peer = accepted;
    peer->when_closed([this] { ++told; });
  }
  void heard() {
    ++messages;
    was_called_late = was_called_late || told > 0;
  }
  AcceptFunction accept() {
    return [this, held = hold_something()](Peer& accepted) -> ReceiveFunction {
      follow(accepted.shared_from_this());
      return [this, held, weak = accepted.weak_from_this()](const Received& received) {
        heard();
        if (std::holds_alternative<EndOfInput>(received)) return weak.lock()->close();
        const auto* const text = std::get_if<std::string_view>(&received);
        if (text != nullptr && *text == "{hold}") return weak.lock()->hold_input();
        weak.lock()->send("{before}");
      };
    };
  }
  // What lives as long as the owner can call the layer above.
  std::shared_ptr<int> hold_something() {
    auto something = std::make_shared<int>();
    held_by_owner = something;
    return something;
  }

 private:
  asio::io_context io_;
  asio::ip::tcp::acceptor acceptor_{io_, {asio::ip::address_v4::loopback(), 0}};

 public:
  RawSocket client{acceptor_.local_endpoint().port()};
  // On the loop:
  std::shared_ptr<Channel> channel;
  std::weak_ptr<Channel> weak_channel;
  std::weak_ptr<int> held_by_owner;
  std::shared_ptr<Peer> peer;
  std::size_t messages = 0;
  std::size_t told = 0;
  std::size_t finished = 0;
  std::size_t told_as_it_finished = 0;
  bool was_called_late = false;
  LoopThread loop;
};

// Each kind of owner.

struct OwnerOfLines : OfOneOwner {
  OwnerOfLines() {
    begin([this](Channel& with, const ConnectionLimits& limits) {
      LineConnection::start(with, {.transport = TransportKind::kTcp, .address = "test"}, limits, accept());
    });
  }
  static std::string said(std::string_view text) { return std::string(text) + "\n"; }
};

struct OwnerOfFrames : OfOneOwner {
  OwnerOfFrames() {
    begin([this](Channel& with, const ConnectionLimits& limits) {
      websocket::Connection::start(loop.io(), with, {.transport = TransportKind::kWebSocket, .address = "test"}, {},
                                   limits, "", accept());
    });
  }
  static std::string said(std::string_view text) { return text_frame(std::string(text)); }
};

// With an exchange under way.
struct OwnerOfRequests : OfOneOwner {
  OwnerOfRequests() {
    begin([this](Channel& with, const ConnectionLimits& limits) {
      http::Surroundings around{.io = loop.io(),
                                .parser_limits = {.header_bytes = usual_limits<http::Options>().header_bytes},
                                .timeouts = usual_limits<http::Timeouts>(),
                                .origin_policy = http::OriginPolicy({}, http::OriginPolicy::Binding::kLoopback),
                                .handler = handler(),
                                .websocket_limits = {},
                                .websocket_path = {},
                                .accept_websocket = {},
                                .refused = {},
                                .refuse_guess = {},
                                .limits = limits};
      http::Connection::start(Immutable<http::Surroundings>(std::move(around)), with, "test");
    });
  }
  http::Handler handler() {
    return [this, held = hold_something()](const http::Request& request, http::Exchange& exchange) {
      follow(HttpPeer::make(loop.io(), exchange, {.may_stream = true, .remote = request.remote}));
      heard();
      peer->send("{before}");
    };
  }
  static std::string said(std::string_view) { return "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"; }
};

enum class Cause { kClientFinishes, kClientResets, kServerAborts, kServerCloses, kServerGoesAway };

template <class One>
void bring_about(One& one, Cause cause) {
  // Nothing is told from inside of what closes the channel.
  const auto on_channel = [&one](auto action) {
    one.loop.call([&] {
      action(*one.channel);
      CHECK(one.told + one.finished == 0);
    });
  };
  switch (cause) {
    case Cause::kClientFinishes: return one.client.finish_sending();
    case Cause::kClientResets: return one.client.reset();
    case Cause::kServerAborts: return on_channel([](Channel& channel) { channel.abort(); });
    case Cause::kServerCloses: return on_channel([](Channel& channel) { channel.close(); });
    case Cause::kServerGoesAway: return on_channel([](Channel& channel) { channel.go_away(); });
  }
}

}  // namespace

#define EVERY_OWNER OwnerOfLines, OwnerOfFrames, OwnerOfRequests

TEMPLATE_TEST_CASE("a channel that closes has its owner tell of it once, and both let go of all, whatever the cause",
                   "", EVERY_OWNER) {
  const auto cause = GENERATE(Cause::kClientFinishes, Cause::kClientResets, Cause::kServerAborts, Cause::kServerCloses,
                              Cause::kServerGoesAway);
  CAPTURE(static_cast<int>(cause));
  TestType one;
  one.client.send(TestType::said("{first}"));
  CHECK_NOTHROW(one.client.receive_until("{before}"));
  CHECK(one.loop.call([&] { return one.messages; }) == 1);
  bring_about(one, cause);
  CHECK(one.loop.eventually([&] { return one.told > 0 && one.finished > 0; }));
  one.loop.call([&] {
    CHECK(one.peer->closed());
    one.channel->go_away();
    one.channel->close();
    one.channel->abort();
    one.peer->send("{after}");
    one.peer->close();
    one.peer.reset();
    one.channel.reset();
  });
  CHECK(one.loop.eventually([&] { return one.weak_channel.expired() && one.held_by_owner.expired(); }));
  one.loop.call([&] {
    CHECK(one.told == 1);
    CHECK(one.finished == 1);
    CHECK(one.told_as_it_finished == 1);
    CHECK_FALSE(one.was_called_late);
  });
}

TEMPLATE_TEST_CASE("the other side of a channel that its owner closes gets all that was sent before", "", EVERY_OWNER) {
  const auto cause = GENERATE(Cause::kServerCloses, Cause::kServerGoesAway);
  CAPTURE(static_cast<int>(cause));
  TestType one;
  one.client.send(TestType::said("{first}"));
  one.client.receive_until("{before}");
  const std::string last = "{" + std::string(1'000'000, 'x') + "}";
  one.loop.call([&] { one.peer->send(last); });
  bring_about(one, cause);
  one.loop.call([&] { one.peer->send("{after}"); });
  const std::string rest = one.client.receive_rest();
  CHECK(rest.find(last) != std::string::npos);
  CHECK(rest.find("{after}") == std::string::npos);
  CHECK(one.loop.eventually([&] { return one.told == 1; }));
}

TEMPLATE_TEST_CASE("what waits in a connection when its channel closes is dropped, and never comes", "", OwnerOfLines,
                   OwnerOfFrames) {
  TestType one;
  one.client.send(TestType::said("{hold}") + TestType::said("{next}"));
  CHECK(one.loop.eventually([&] { return one.messages == 1; }));
  one.loop.call([&] { one.channel->abort(); });
  CHECK(one.loop.eventually([&] { return one.told == 1; }));
  one.loop.call([&] {
    CHECK(one.held_by_owner.expired());  // it might hold the peer
    one.peer->resume_input();
  });
  one.loop.call([&] { one.peer.reset(), one.channel.reset(); });
  CHECK(one.loop.eventually([&] { return one.weak_channel.expired(); }));
  one.loop.call([&] {
    CHECK(one.messages == 1);
    CHECK(one.told == 1);
    CHECK_FALSE(one.was_called_late);
  });
}

}  // namespace rkllm_mcp::test
