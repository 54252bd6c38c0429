#include "transport/bytes/listener.hpp"

#include "support/catch.hpp"
#include "support/process.hpp"

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ip/udp.hpp>

#include <unistd.h>

#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

// As the function names this process.
std::string this_process() {
  std::string name = read_file("/proc/self/comm");
  name.pop_back();
  return "process " + std::to_string(::getpid()) + " (" + name + ")";
}

}  // namespace

TEST_CASE("who listens at a TCP port is named by its id and its name, over either version of IP") {
  const auto address = GENERATE("127.0.0.1", "0.0.0.0", "::1", "::");
  CAPTURE(address);
  asio::io_context io;
  const asio::ip::tcp::acceptor listening(io, {asio::ip::make_address(address), 0});
  CHECK(port_holder("tcp", listening.local_endpoint().port()) == this_process());
}

TEST_CASE("who has a UDP port is named, over either version of IP") {
  const auto address = GENERATE("127.0.0.1", "::1");
  CAPTURE(address);
  asio::io_context io;
  const asio::ip::udp::socket socket(io, asio::ip::udp::endpoint(asio::ip::make_address(address), 0));
  CHECK(port_holder("udp", socket.local_endpoint().port()) == this_process());
}

TEST_CASE("nobody is named for a TCP port that is taken, or connected, and at which nobody listens") {
  asio::io_context io;
  const asio::ip::tcp::endpoint any_port(asio::ip::address_v4::loopback(), 0);
  asio::ip::tcp::socket bound(io, any_port);
  CHECK(port_holder("tcp", bound.local_endpoint().port()).empty());
  const asio::ip::tcp::acceptor listening(io, any_port);
  bound.connect(listening.local_endpoint());
  CHECK(port_holder("tcp", bound.local_endpoint().port()).empty());
  CHECK(port_holder("tcp", listening.local_endpoint().port()) == this_process());
}

TEST_CASE("a port of one protocol has nothing to do with that of another, and there are no more than two") {
  asio::io_context io;
  const asio::ip::tcp::acceptor listening(io, {asio::ip::address_v4::loopback(), 0});
  const auto port = listening.local_endpoint().port();
  CHECK(port_holder("udp", port).empty());
  CHECK(port_holder("", port).empty());
  CHECK(port_holder("sctp", port).empty());
}

TEST_CASE("a port that was given back is nobody's") {
  asio::io_context io;
  asio::ip::tcp::acceptor listening(io, {asio::ip::address_v4::loopback(), 0});
  const auto port = listening.local_endpoint().port();
  listening.close();
  CHECK(port_holder("tcp", port).empty());
}
