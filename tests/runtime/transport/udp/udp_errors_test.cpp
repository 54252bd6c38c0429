#include "transport/udp/udp_transport.hpp"

#include "support/catch.hpp"

#include <asio/io_context.hpp>
#include <asio/ip/udp.hpp>

#include <poll.h>

#include <stdexcept>
#include <string>
#include <vector>

using namespace rkllm_mcp;

namespace {

using UdpSocket = asio::ip::udp::socket;
using UdpEndpoints = std::vector<asio::ip::udp::endpoint>;

const asio::ip::address kLoopback4 = asio::ip::make_address("127.0.0.1");
const asio::ip::address kLoopback6 = asio::ip::make_address("::1");

// A port that is taken, but at which nobody listens to us: its socket is connected to another one.
class DeafPort {
 public:
  DeafPort(asio::io_context& io, const asio::ip::address& address)
      : other_(io, {address, 0}), socket_(io, {address, 0}) {
    socket_.connect(other_.local_endpoint());
  }
  asio::ip::udp::endpoint endpoint() const { return socket_.local_endpoint(); }

 private:
  UdpSocket other_;
  UdpSocket socket_;
};

// A socket whose errors are reported, and what comes of what it sends.
class ReportedSocket {
 public:
  explicit ReportedSocket(const asio::ip::address& address) : socket(io, {address, 0}) {
    socket.non_blocking(true);
    report_udp_errors(socket);
  }

  // What is sent to a socket that has an error waiting fails once for it: then it is sent again.
  void send_to(const asio::ip::udp::endpoint& remote) {
    asio::error_code error;
    socket.send_to(asio::buffer("hello", 5), remote, 0, error);
    if (error) socket.send_to(asio::buffer("hello", 5), remote);
  }
  // Waits until the network has said something.
  UdpEndpoints await_errors() {
    pollfd state{socket.native_handle(), 0, 0};
    if (::poll(&state, 1, 60'000) != 1) throw std::runtime_error("no error came");
    return take_udp_errors(socket);
  }

  asio::io_context io;
  UdpSocket socket;
};

}  // namespace

TEST_CASE("a remote end at which nobody listens is reported once, over either version of IP") {
  const auto address = GENERATE(kLoopback4, kLoopback6);
  CAPTURE(address.to_string());
  ReportedSocket sender(address);
  const DeafPort deaf(sender.io, address);
  CHECK(take_udp_errors(sender.socket).empty());
  sender.send_to(deaf.endpoint());
  CHECK(sender.await_errors() == UdpEndpoints{deaf.endpoint()});
  CHECK(take_udp_errors(sender.socket).empty());
  sender.send_to(deaf.endpoint());
  CHECK(sender.await_errors() == UdpEndpoints{deaf.endpoint()});
}

TEST_CASE("all remote ends that are gone are reported together, in their order, and none at which somebody listens") {
  ReportedSocket sender(kLoopback4);
  const UdpSocket listening(sender.io, {kLoopback4, 0});
  const DeafPort first(sender.io, kLoopback4);
  const DeafPort second(sender.io, kLoopback4);
  sender.send_to(first.endpoint());
  sender.send_to(listening.local_endpoint());
  sender.send_to(second.endpoint());
  UdpEndpoints gone;
  while (gone.size() < 2) {
    for (const auto& remote : sender.await_errors()) gone.push_back(remote);
  }
  CHECK(gone == UdpEndpoints{first.endpoint(), second.endpoint()});
}

TEST_CASE("a socket over IPv6 that also speaks IPv4 hears of both, in the form in which it sends to them") {
  ReportedSocket sender(asio::ip::make_address("::"));
  const DeafPort deaf(sender.io, kLoopback4);
  const asio::ip::udp::endpoint mapped(asio::ip::make_address_v6(asio::ip::v4_mapped, asio::ip::address_v4::loopback()),
                                       deaf.endpoint().port());
  sender.send_to(mapped);
  CHECK(sender.await_errors() == UdpEndpoints{mapped});
}

TEST_CASE("what a socket is not asked to report is not reported, and what it receives stays to be read") {
  asio::io_context io;
  UdpSocket silent(io, asio::ip::udp::endpoint(kLoopback4, 0));
  const DeafPort deaf(io, kLoopback4);
  silent.send_to(asio::buffer("hello", 5), deaf.endpoint());
  silent.send_to(asio::buffer("self", 4), silent.local_endpoint());
  CHECK(take_udp_errors(silent).empty());
  std::string received(10, '\0');
  CHECK(silent.receive(asio::buffer(received)) == 4);
  CHECK(take_udp_errors(silent).empty());
}

TEST_CASE("a socket that is closed has no errors") {
  ReportedSocket sender(kLoopback4);
  sender.socket.close();
  CHECK(take_udp_errors(sender.socket).empty());
}
