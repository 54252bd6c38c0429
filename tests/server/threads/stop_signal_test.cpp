#include "threads/stop_signal.hpp"

#include "support/catch.hpp"
#include "support/few_descriptors.hpp"

#include <asio/io_context.hpp>
#include <asio/ip/address_v4.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

namespace rkllm_mcp {
namespace {

// Whether the other end has been told that nothing comes any more. Does not wait.
bool has_ended(const Descriptor& socket) {
  char byte = 0;
  return ::recv(socket.number(), &byte, 1, MSG_DONTWAIT) == 0;
}

}  // namespace

TEST_CASE("a signal is not stopped until somebody stops it, and then it stays so") {
  StopSignal stop;
  CHECK_FALSE(stop.is_stopped());
  stop.stop();
  CHECK(stop.is_stopped());
  stop.stop();
  CHECK(stop.is_stopped());
}

TEST_CASE("who waits for the watched socket wakes up when it is stopped") {
  StopSignal stop;
  const auto [ours, other] = make_stream_pair();
  stop.watch(ours.number());
  std::thread stopping([&stop] { stop.stop(); });
  char byte = 0;
  CHECK(::read(ours.number(), &byte, 1) == 0);
  stopping.join();
  CHECK(has_ended(other));
}

TEST_CASE("a socket that is watched after the stop is shut down at once, and so is each one after it") {
  StopSignal stop;
  stop.stop();
  for (int i = 0; i < 2; ++i) {
    const auto [ours, other] = make_stream_pair();
    stop.watch(ours.number());
    CHECK(has_ended(ours));
    CHECK(has_ended(other));
  }
}

TEST_CASE("a socket that cannot be watched, as too many files are open, is shut down at once") {
  StopSignal stop;
  const auto [ours, other] = make_stream_pair();
  {
    const test::FewDescriptors none;
    stop.watch(ours.number());
  }
  CHECK(has_ended(ours));
  CHECK(has_ended(other));
  CHECK_FALSE(stop.is_stopped());
}

TEST_CASE("only the socket that is waited for now is shut down") {
  StopSignal stop;
  const auto [first, other_of_first] = make_stream_pair();
  const auto [second, other_of_second] = make_stream_pair();
  stop.watch(first.number());
  stop.watch(second.number());
  stop.stop();
  CHECK_FALSE(has_ended(other_of_first));
  CHECK(has_ended(other_of_second));
}

TEST_CASE("a stop after the owner has closed the socket ends nothing that has its number now") {
  StopSignal stop;
  auto [ours, other] = make_stream_pair();
  stop.watch(ours.number());
  const int number = ours.number();
  ours.close();
  const auto [later, other_of_later] = make_stream_pair();
  REQUIRE(later.number() == number);
  stop.stop();
  CHECK_FALSE(has_ended(other_of_later));
  CHECK(has_ended(other));
}

TEST_CASE("what has come over a TCP socket is counted, also what its owner has read, and nothing without one") {
  StopSignal stop;
  CHECK(stop.received() == 0);
  const auto [local, other] = make_stream_pair();
  stop.watch(local.number());
  CHECK(stop.received() == 0);

  asio::io_context loop;
  asio::ip::tcp::acceptor acceptor(loop, {asio::ip::address_v4::loopback(), 0});
  asio::ip::tcp::socket client(loop);
  client.connect(acceptor.local_endpoint());
  asio::ip::tcp::socket server = acceptor.accept();
  stop.watch(client.native_handle());
  CHECK(stop.received() == 0);
  std::string bytes(1000, 'x');
  asio::write(server, asio::buffer(bytes));
  asio::read(client, asio::buffer(bytes));
  CHECK(stop.received() == 1000);
}

}  // namespace rkllm_mcp
