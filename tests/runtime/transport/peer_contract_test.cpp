// What transport/peer.hpp promises (Peer, and Writable, which it is one of), held against every kind of peer: over a
// real socket, where it has one. What is Writable's alone is also held against an exchange of HTTP, which is no peer.
// And what answer_sink.hpp promises (AnswerSink), held against what answers a batch, in front of every kind of them.
#include "dispatch/batch_answer.hpp"
#include "dispatch/event_stream.hpp"
#include "dispatch/http_peer.hpp"
#include "dispatch/paired_http.hpp"
#include "loop_thread.hpp"
#include "support/catch.hpp"
#include "support/client_frames.hpp"
#include "support/eventually.hpp"
#include "support/raw_socket.hpp"
#include "support/usual_limits.hpp"
#include "transport/http/http_transport.hpp"
#include "transport/lines/tcp_transport.hpp"
#include "transport/peer.hpp"
#include "transport/udp/udp_transport.hpp"
#include "transport/websocket/websocket_transport.hpp"

#include <asio/ip/udp.hpp>

#include <poll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

using ContractTexts = std::vector<std::string>;

// The layer above one peer. Says "{new}" to who says "{again}", believes who says "{prove}", and holds the input twice
// for who says "{hold}".
struct OfOnePeer {
  OfOnePeer() {
    loop.before_end([this] { peer.reset(); });
  }

  AcceptFunction accept() {
    return [this](Peer& accepted) -> ReceiveFunction {
      peer = accepted.shared_from_this();
      return [this, weak = accepted.weak_from_this()](const Received& received) {
        const auto* const text = std::get_if<std::string_view>(&received);
        if (text == nullptr) return;
        messages.emplace_back(*text);
        if (*text == "{again}") weak.lock()->send("{new}");
        if (*text == "{prove}") weak.lock()->prove();
        if (*text != "{hold}") return;
        weak.lock()->hold_input();
        weak.lock()->hold_input();
      };
    };
  }
  void wait_for_peer() {
    REQUIRE(loop.eventually([this] { return peer != nullptr; }));
  }
  bool has_come(const ContractTexts& texts) {
    return loop.eventually([&] { return messages == texts; });
  }

  // What is Writable's, on the loop.
  Writable& way() { return *peer; }
  void write(const std::string& text) { peer->send(text); }

  std::shared_ptr<Peer> peer;  // on the loop, as is the next
  ContractTexts messages;
  LoopThread loop;
};

// The usual ones, where a client that has not proved itself sends short messages only.
template <class Options>
Options limits_with_strangers() {
  Options options = usual_limits<Options>();
  options.limits.stranger_message_bytes = 16 * 1024;
  return options;
}

// Each kind of peer, with a client that speaks and hears.

// LineConnection
struct OverLines : OfOnePeer {
  static constexpr TransportKind kTransport = TransportKind::kTcp;

  OverLines() { wait_for_peer(); }

  void say(const ContractTexts& texts) {
    std::string bytes;
    for (const auto& text : texts) bytes += text + "\n";
    client.send(bytes);
  }
  std::string rest() { return client.receive_rest(); }
  void read_on() { client.receive_available(); }

  OnLoop<TcpTransport> transport{loop, limits_with_strangers<TcpOptions>(), accept()};
  RawSocket client{transport.call([](auto& tcp) { return tcp.port(); })};
};

// websocket::Connection
struct OverWebSocket : OfOnePeer {
  static constexpr TransportKind kTransport = TransportKind::kWebSocket;

  OverWebSocket() {
    client.send(
        "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    client.receive_until("\r\n\r\n");
    wait_for_peer();
  }

  void say(const ContractTexts& texts) {
    std::string bytes;
    for (const auto& text : texts) bytes += text_frame(text);
    client.send(bytes);
  }
  std::string rest() { return client.receive_rest(); }
  void read_on() { client.receive_available(); }

  OnLoop<websocket::Transport> transport{loop, limits_with_strangers<websocket::Options>(), accept()};
  RawSocket client{transport.call([](auto& websocket) { return websocket.port(); })};
};

// UdpTransport::UdpPeer
struct OverUdp : OfOnePeer {
  static constexpr TransportKind kTransport = TransportKind::kUdp;

  OverUdp() {
    client_.connect({asio::ip::address_v4::loopback(), transport.call([](auto& udp) { return udp.port(); })});
    say({"{first}"});
    REQUIRE(has_come({"{first}"}));
    loop.call([this] { messages.clear(); });
  }

  void say(const ContractTexts& texts) {
    for (const auto& text : texts) client_.send(asio::buffer(text));
  }
  // There is no end to be seen: who comes again is another peer, and what was sent to the one before has come by then.
  std::string rest() {
    say({"{again}"});
    std::string heard;
    while (heard.find("{new}") == std::string::npos) heard += receive();
    return heard;
  }
  void read_on() {}

  OnLoop<UdpTransport> transport{loop, usual_limits<UdpOptions>(), accept()};

 private:
  std::string receive() {
    pollfd state{client_.native_handle(), POLLIN, 0};
    REQUIRE(::poll(&state, 1, static_cast<int>(std::chrono::milliseconds(kPatience).count())) == 1);
    std::array<char, 1024> bytes{};
    return {bytes.data(), client_.receive(asio::buffer(bytes))};
  }

  asio::io_context io_;
  asio::ip::udp::socket client_{io_};
};

// Whose exchange carries events.
template <class Kind>
struct OverHttp : OfOnePeer {
  static constexpr TransportKind kTransport = TransportKind::kHttp;

  OverHttp() {
    client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    wait_for_peer();
  }

  // What has been sent to the end of the answer.
  std::string rest() { return client.receive_until("\r\n0\r\n\r\n"); }
  void read_on() { client.receive_available(); }

  OnLoop<http::Transport> transport{loop, usual_limits<http::Options>(),
                                    http::Handler([this](const http::Request& request, http::Exchange& exchange) {
                                      peer = Kind::make(loop.io(), exchange, request.remote);
                                    }),
                                    AcceptFunction()};
  RawSocket client{transport.call([](auto& http) { return http.port(); })};
};

struct PlainExchange {
  static std::shared_ptr<Peer> make(asio::io_context& io, http::Exchange& exchange, const std::string& remote) {
    return HttpPeer::make(io, exchange, {.may_stream = true, .remote = remote});
  }
};
struct ResumedExchange {
  static std::shared_ptr<Peer> make(asio::io_context& io, http::Exchange& exchange, const std::string& remote) {
    const auto stream = std::make_shared<EventStream>(
        io, EventStream::Options{.id = "1", .headers = {}, .remote = remote, .memory = {}});
    stream->begin(exchange);
    return stream;
  }
};
using OverPlainHttp = OverHttp<PlainExchange>;
using OverEventStream = OverHttp<ResumedExchange>;

// PairedHttp::Client, whose event stream is a connection, and whose messages come by another.
struct OverPairedHttp : OfOnePeer {
  static constexpr TransportKind kTransport = TransportKind::kHttp;

  OverPairedHttp() {
    client.send("GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n");
    client.receive_until("data: ");
    address_ = client.receive_until("\n");
    address_.pop_back();
    wait_for_peer();
  }

  void say(const ContractTexts& texts) {
    for (const auto& text : texts) {
      other_.send("POST " + address_ +
                  " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text);
    }
  }
  std::string rest() { return client.receive_until("\r\n0\r\n\r\n"); }
  void read_on() { client.receive_available(); }

  OnLoop<PairedHttp> paired{loop, MemoryBudget(), accept()};
  OnLoop<http::Transport> transport{
      loop, usual_limits<http::Options>(),
      http::Handler([&handlers = paired.call([](auto& both) { return std::ref(both); }).get()](
                        const http::Request& request, http::Exchange& exchange) {
        request.method == "GET" ? handlers.open(request, exchange) : handlers.take(request, exchange);
      }),
      AcceptFunction()};
  RawSocket client{transport.call([](auto& http) { return http.port(); })};

 private:
  std::string address_;
  RawSocket other_{transport.call([](auto& http) { return http.port(); })};
};

// Connection::OwnExchange: no peer, and nothing but Writable is asked of it.
struct OverExchange : OfOnePeer {
  OverExchange() {
    client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    REQUIRE(loop.eventually([this] { return exchange_ != nullptr; }));
  }
  OverExchange(const OverExchange&) = delete;
  OverExchange& operator=(const OverExchange&) = delete;
  ~OverExchange() {
    loop.call([this] { exchange_.reset(); });
  }

  Writable& way() { return *exchange_; }
  void write(const std::string& text) { exchange_->write(text); }
  void read_on() { client.receive_available(); }

 private:
  std::shared_ptr<http::Exchange> exchange_;

 public:
  OnLoop<http::Transport> transport{loop, usual_limits<http::Options>(),
                                    http::Handler([this](const http::Request& /*request*/, http::Exchange& exchange) {
                                      exchange.start_stream(200, {});
                                      exchange_ = exchange.shared_from_this();
                                    }),
                                    AcceptFunction()};
  RawSocket client{transport.call([](auto& http) { return http.port(); })};
};

// SilentPeer
struct Nowhere : OfOnePeer {
  static constexpr TransportKind kTransport = TransportKind::kStdio;

  Nowhere() { peer = std::make_shared<SilentPeer>(kTransport, "nobody"); }
};

}  // namespace

TEMPLATE_TEST_CASE("a peer says who it is, and what answers its requests", "", OverLines, OverWebSocket, OverUdp,
                   OverPlainHttp, OverEventStream, OverPairedHttp, Nowhere) {
  TestType one;
  one.loop.call([&] {
    const PeerFacts& facts = one.peer->facts();
    CHECK(facts.transport == TestType::kTransport);
    CHECK(host_of(facts.address) == (TestType::kTransport == TransportKind::kStdio ? "nobody" : "127.0.0.1"));
    CHECK(&one.peer->facts() == &facts);
    CHECK(&one.peer->answer().peer() == one.peer.get());
    CHECK(one.peer->answer().keep().get() == &one.peer->answer());
  });
}

TEMPLATE_TEST_CASE("a peer that is closed drops what is sent, and tells of its end once, from a callback of its own",
                   "", OverLines, OverWebSocket, OverUdp, OverEventStream, OverPairedHttp) {
  TestType one;
  std::size_t told = 0;
  one.loop.call([&] {
    Peer& peer = *one.peer;
    peer.when_closed([&told] { ++told; });
    CHECK_FALSE(peer.closed());
    peer.send("{before}");
    peer.close();
    CHECK(peer.closed());
    peer.close();
    peer.send("{after}");
    CHECK(told == 0);
  });
  CHECK(one.loop.eventually([&] { return told == 1; }));
  one.loop.call([&] {
    std::size_t late = 0;
    one.peer->when_closed([&late] { ++late; });
    CHECK(late == 1);
    one.peer->close();
    one.peer->send("{later}");
  });
  const std::string rest = one.rest();
  CHECK_THAT(rest, has_text("{before}"));
  CHECK_THAT(rest, !has_text("{after}"));
  CHECK_THAT(rest, !has_text("{later}"));
  CHECK(told == 1);
}

TEST_CASE("an HTTP exchange ends with its answer, and not when it is closed") {
  OverPlainHttp one;
  one.loop.call([&] {
    Peer& peer = *one.peer;
    peer.send("{before}");
    peer.close();
    peer.close();
    CHECK_FALSE(peer.closed());
    peer.answer().last("{last}", std::nullopt);
    peer.send("{after}");
  });
  const std::string rest = one.rest();
  CHECK_THAT(rest, has_text("{before}"));
  CHECK_THAT(rest, has_text("{last}"));
  CHECK_THAT(rest, !has_text("{after}"));
}

TEMPLATE_TEST_CASE("a batch is answered by one message, when the last of its own has ended, and never again", "",
                   OverLines, OverWebSocket, OverUdp, OverPlainHttp, OverEventStream, OverPairedHttp) {
  bool is_over = false;  // outlives the loop, which may tell of an end
  TestType one;
  one.loop.call([&] {
    Peer& peer = *one.peer;
    const auto batch = std::make_shared<BatchAnswer>(peer.answer(), 3, MemoryBudget());
    CHECK(&batch->peer() == &peer);
    CHECK(batch->keep() == batch);
    CHECK(batch->has_room_for(1));
    batch->expected();
    batch->expected();
    batch->last("{first}", std::nullopt);
    batch->none();
    peer.send("{beside}");
    batch->last("{second}", ErrorCode::kInvalidParams);
    batch->last("{after}", std::nullopt);
    batch->none();
    peer.when_closed([&is_over] { is_over = true; });
    peer.close();
  });
  CHECK(one.loop.eventually([&] { return is_over || !one.peer->closed(); }));  // an HTTP exchange is not closed
  const std::string rest = one.rest();
  const auto answer = rest.find("[{first},{second}]");
  REQUIRE(answer != std::string::npos);
  CHECK(rest.find("{beside}") < answer);
  CHECK(rest.find("{first}") == answer + 1);
  CHECK(rest.find("{first}", answer + 2) == std::string::npos);
  CHECK_THAT(rest, !has_text("{after}"));
}

TEMPLATE_TEST_CASE("a batch of a client that is refused ends its connection, behind the answer", "", OverLines,
                   OverWebSocket, OverPairedHttp) {
  TestType one;
  one.loop.call([&] {
    Peer& peer = *one.peer;
    const auto batch = std::make_shared<BatchAnswer>(peer.answer(), 2, MemoryBudget());
    batch->refuse();
    batch->last("{first}", ErrorCode::kInvalidParams);
    CHECK_FALSE(peer.closed());
    batch->last("{second}", ErrorCode::kInvalidParams);
    CHECK(peer.closed());
  });
  CHECK_THAT(one.rest(), has_text("[{first},{second}]"));
}

TEST_CASE("a peer that is nowhere takes everything, always") {
  Nowhere one;
  one.loop.call([&] {
    Peer& peer = *one.peer;
    peer.send("{before}");
    peer.hold_input();
    peer.resume_input();
    peer.close();
    peer.close();
    peer.answer().last("{last}", ErrorCode::kInvalidParams);
    CHECK(peer.ready());
    CHECK_FALSE(peer.closed());
  });
}

// Not over UDP, where no end is to be seen, and not of an event stream that a client may come back to.
TEMPLATE_TEST_CASE("that a client has gone is told once to who has asked before, and at once to who asks later", "",
                   OverLines, OverWebSocket, OverPlainHttp, OverPairedHttp, OverExchange) {
  std::size_t told = 0;  // outlives the loop, which may tell of an end
  TestType one;
  one.loop.call([&] {
    CHECK_FALSE(one.way().closed());
    one.way().when_closed([&told] { ++told; });
    CHECK(told == 0);
  });
  one.client.reset();
  CHECK(one.loop.eventually([&] { return told == 1; }));
  one.loop.call([&] {
    CHECK(one.way().closed());
    std::size_t late = 0;
    one.way().when_closed([&late] { ++late; });
    CHECK(late == 1);
    one.write("{later}");
  });
  CHECK(told == 1);
}

TEMPLATE_TEST_CASE("who waits for a peer that is not ready is called once it is, and not before", "", OverLines,
                   OverWebSocket, OverUdp, OverPlainHttp, OverEventStream, OverPairedHttp, OverExchange) {
  TestType one;
  std::size_t told = 0;
  bool was_ready = false;
  one.loop.call([&] {
    Writable& way = one.way();
    REQUIRE(way.ready());
    while (way.ready()) one.write("{" + std::string(1000, 'x') + "}");
    way.when_ready([&] {
      ++told;
      was_ready = way.ready();
    });
    CHECK(told == 0);
    CHECK_FALSE(way.ready());
  });
  CHECK(eventually(
      [&] {
        one.read_on();
        return one.loop.call([&] { return told == 1 && one.way().ready(); });
      },
      kPatience));
  CHECK(was_ready);
}

TEMPLATE_TEST_CASE("the input of a peer goes on when it has been resumed as often as it was held", "", OverLines,
                   OverWebSocket, OverPairedHttp) {
  TestType one;
  one.say({"{hold}", "{next}"});
  REQUIRE(one.has_come({"{hold}"}));
  one.loop.call([&] {
    Peer& peer = *one.peer;
    peer.resume_input();
    CHECK(one.messages.size() == 1);
    peer.hold_input();
    peer.resume_input();
    CHECK(one.messages.size() == 1);
    peer.resume_input();
  });
  CHECK(one.has_come({"{hold}", "{next}"}));
}

TEMPLATE_TEST_CASE("who has proved itself may send longer messages, the next one of the same piece, too", "", OverLines,
                   OverWebSocket) {
  TestType one;
  const std::string longer = "{" + std::string(20'000, 'x') + "}";
  one.say({longer, "{prove}", longer});
  CHECK(one.has_come({"{prove}", longer}));
}

TEST_CASE("datagrams come in no order: they come while the input is held") {
  OverUdp one;
  one.say({"{hold}", "{next}"});
  CHECK(one.has_come({"{hold}", "{next}"}));
  one.loop.call([&] {
    one.peer->resume_input();
    one.peer->resume_input();
  });
  one.say({"{more}"});
  CHECK(one.has_come({"{hold}", "{next}", "{more}"}));
}
