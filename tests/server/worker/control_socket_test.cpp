// Sockets on their way from the server to a worker: with what they are for, one pair after the other.
#include "worker/control_socket.hpp"

#include "process/descriptor.hpp"
#include "support/catch.hpp"
#include "support/few_descriptors.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <future>
#include <string>
#include <string_view>
#include <utility>

using namespace rkllm_mcp;

namespace {

// What arrives at `there` when `text` is written to `here`.
std::string sent_over(const Descriptor& here, const Descriptor& there, std::string_view text) {
  if (::send(here.number(), text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) return "";
  std::array<char, 64> bytes{};
  const ssize_t got = ::recv(there.number(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  return got < 0 ? std::string() : std::string(bytes.data(), static_cast<std::size_t>(got));
}

bool is_at_its_end(const Descriptor& socket) {
  char byte = 0;
  return ::recv(socket.number(), &byte, 1, MSG_DONTWAIT) == 0;
}

// A pair of sockets, one of each of two ways, as a server passes it.
struct TwoWays {
  void pass(const Descriptor& control, const std::string& label) {
    PassedSockets passed{label, {std::move(first.second), std::move(second.second)}};
    REQUIRE(pass_sockets(control, passed));
  }

  DescriptorPair first = make_stream_pair();
  DescriptorPair second = make_stream_pair();
};

}  // namespace

TEST_CASE("passed sockets arrive in their order, with what they are for, and are not left to other programs") {
  const DescriptorPair control = make_seqpacket_pair();
  TwoWays ways;
  ways.pass(control.first, "llm-1");
  const auto taken = take_sockets(control.second);
  REQUIRE(taken);
  CHECK(taken->label == "llm-1");
  CHECK(sent_over(ways.first.first, taken->ends.first, "one") == "one");
  CHECK(sent_over(ways.second.first, taken->ends.second, "two") == "two");
  CHECK(sent_over(taken->ends.first, ways.first.first, "back") == "back");
  CHECK((::fcntl(taken->ends.first.number(), F_GETFD) & FD_CLOEXEC) != 0);
  CHECK((::fcntl(taken->ends.second.number(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("who passes sockets keeps its own ends of them open") {
  const DescriptorPair control = make_seqpacket_pair();
  DescriptorPair first = make_stream_pair();
  DescriptorPair second = make_stream_pair();
  const PassedSockets passed{"", {std::move(first.second), std::move(second.second)}};
  REQUIRE(pass_sockets(control.first, passed));
  CHECK(take_sockets(control.second));  // and closes them at once
  CHECK(sent_over(first.first, passed.ends.first, "still") == "still");
  CHECK(sent_over(passed.ends.second, second.first, "here") == "here");
}

TEST_CASE("a label arrives as it was, whatever is in it") {
  const DescriptorPair control = make_seqpacket_pair();
  const auto label = GENERATE(as<std::string>(), "", "x", "\xFF\xC3", std::string("a\0b\n\0", 5),
                              std::string(kMostControlBytes - 1, 'x'));
  TwoWays ways;
  ways.pass(control.first, label);
  const auto taken = take_sockets(control.second);
  REQUIRE(taken);
  CHECK(taken->label == label);
  CHECK(taken->ends.second.number() >= 0);
}

TEST_CASE("a label that is too long loses its end, and the sockets arrive all the same") {
  const DescriptorPair control = make_seqpacket_pair();
  const std::string label = std::string(kMostControlBytes - 1, 'x') + std::string(1000, 'y');
  TwoWays ways;
  ways.pass(control.first, label);
  const auto taken = take_sockets(control.second);
  REQUIRE(taken);
  CHECK(taken->label == label.substr(0, kMostControlBytes - 1));
  CHECK(sent_over(ways.second.first, taken->ends.second, "whole") == "whole");
}

TEST_CASE("each pair is taken by itself, in the order in which they were passed, and then there is the end") {
  DescriptorPair control = make_seqpacket_pair();
  TwoWays one;
  TwoWays two;
  one.pass(control.first, "llm-1");
  two.pass(control.first, "llm-2");
  control.first.close();
  const auto taken_first = take_sockets(control.second);
  const auto taken_second = take_sockets(control.second);
  REQUIRE(taken_first);
  REQUIRE(taken_second);
  CHECK(taken_first->label == "llm-1");
  CHECK(taken_second->label == "llm-2");
  CHECK(sent_over(one.first.first, taken_first->ends.first, "one") == "one");
  CHECK(sent_over(two.first.first, taken_second->ends.first, "two") == "two");
  CHECK_FALSE(take_sockets(control.second));
  CHECK_FALSE(take_sockets(control.second));
}

TEST_CASE("who waits for sockets gets those that come, and hears of the end") {
  DescriptorPair control = make_seqpacket_pair();
  auto waiting = std::async(std::launch::async, [&control] {
    const auto taken = take_sockets(control.second);
    return taken ? taken->label : std::string("none");
  });
  TwoWays ways;
  ways.pass(control.first, "llm-1");
  CHECK(waiting.get() == "llm-1");
  auto waiting_again = std::async(std::launch::async, [&control] { return take_sockets(control.second).has_value(); });
  control.first.close();
  CHECK_FALSE(waiting_again.get());
}

TEST_CASE("sockets cannot be passed to a process that is gone, and then nobody has them") {
  DescriptorPair control = make_seqpacket_pair();
  DescriptorPair first = make_stream_pair();
  {
    const PassedSockets passed{"llm-1", {std::move(first.second), {}}};
    control.second.close();
    CHECK_FALSE(pass_sockets(control.first, passed));
  }
  CHECK(is_at_its_end(first.first));
}

TEST_CASE("sockets that were passed and never taken are closed with the control socket") {
  DescriptorPair control = make_seqpacket_pair();
  TwoWays ways;
  ways.pass(control.first, "llm-1");
  CHECK_FALSE(is_at_its_end(ways.first.first));
  control.second.close();
  CHECK(is_at_its_end(ways.first.first));
  CHECK(is_at_its_end(ways.second.first));
}

TEST_CASE("a process that may open no more gets a label without sockets, and the next pair when it may again") {
  const DescriptorPair control = make_seqpacket_pair();
  const int more = GENERATE(0, 1);
  TwoWays lost;
  lost.pass(control.first, "llm-1");
  {
    const auto taken = [&] {
      const test::FewDescriptors few(more);
      return take_sockets(control.second);
    }();
    REQUIRE(taken);
    CHECK(taken->label == "llm-1");
    CHECK((taken->ends.first.number() >= 0) == (more == 1));
    CHECK(taken->ends.second.number() < 0);
  }
  CHECK(is_at_its_end(lost.first.first));
  CHECK(is_at_its_end(lost.second.first));
  TwoWays next;
  next.pass(control.first, "llm-2");
  const auto taken = take_sockets(control.second);
  REQUIRE(taken);
  CHECK(taken->label == "llm-2");
  CHECK(sent_over(next.second.first, taken->ends.second, "whole") == "whole");
}

TEST_CASE("a message that brings no sockets, or is longer than one can be, harms nobody") {
  const DescriptorPair control = make_seqpacket_pair();
  const auto message = GENERATE(as<std::string>(), "x", "hello", std::string(10 * kMostControlBytes, 'x'));
  REQUIRE(::send(control.first.number(), message.data(), message.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(message.size()));
  const auto taken = take_sockets(control.second);
  REQUIRE(taken);
  CHECK(taken->label.size() < kMostControlBytes);
  CHECK(message.starts_with(taken->label));
  CHECK(taken->ends.first.number() < 0);
  CHECK(taken->ends.second.number() < 0);
}
