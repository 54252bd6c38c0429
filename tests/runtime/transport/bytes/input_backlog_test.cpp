#include "transport/bytes/input_backlog.hpp"

#include "clock.hpp"
#include "scripted_channel.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;

namespace rkllm_mcp::test {
namespace {

// A connection that takes its input line by line: while its layer above is busy, and in a slice that is over, the rest
// waits.
struct LinesTaken : ScriptedChannel {
  LinesTaken() {
    owner->on_received = [this](std::string_view bytes) { backlog.receive(bytes, take); };
  }
  void go_on() { backlog.go_on(take); }

  std::string_view take_lines(std::string_view bytes) {
    CHECK_FALSE(backlog.empty());
    ++turns;
    while (!is_busy && !backlog.slice_is_over()) {
      const auto end = bytes.find('\n');
      if (end == std::string_view::npos) return {};  // a framer of its own would keep what has begun
      lines.emplace_back(bytes.substr(0, end));
      bytes.remove_prefix(end + 1);
      backlog.count_message();
      rkllm_mcp::Clock::passed += each_takes;
    }
    return bytes;
  }

  bool is_busy = false;
  rkllm_mcp::Clock::duration each_takes{0};
  int turns = 0;
  std::vector<std::string> lines{};
  InputBacklog backlog{*channel, [this] { go_on(); }};
  const std::function<std::string_view(std::string_view)> take = [this](std::string_view bytes) {
    return take_lines(bytes);
  };
};

std::string numbered_lines(std::size_t first, std::size_t last) {
  std::string text;
  for (std::size_t number = first; number <= last; ++number) text += std::to_string(number) + "\n";
  return text;
}

std::vector<std::string> numbers(std::size_t last) {
  std::vector<std::string> all;
  for (std::size_t number = 1; number <= last; ++number) all.push_back(std::to_string(number));
  return all;
}

}  // namespace

TEST_CASE("input that can be handled at once waits nowhere") {
  LinesTaken one;
  one.stream.deliver("1\n2\n");
  CHECK(one.lines == numbers(2));
  CHECK(one.backlog.empty());
  CHECK(one.stream.is_read());
}

TEST_CASE("input behind what waits already waits, too, and is handled in its order") {
  LinesTaken one;
  one.is_busy = true;
  one.stream.deliver("1\n2\n");
  one.stream.deliver("3\n");
  CHECK(one.lines.empty());
  CHECK(one.turns == 1);  // the second was not even offered
  CHECK_FALSE(one.backlog.empty());
  one.is_busy = false;
  one.go_on();
  CHECK(one.lines == numbers(3));
  CHECK(one.backlog.empty());
  one.go_on();  // with nothing there
  CHECK(one.turns == 2);
}

TEST_CASE("16 messages are handled before the loop calls what else there is, and the rest in further turns") {
  LinesTaken one;
  bool was_called = false;
  one.stream.deliver(numbered_lines(1, 40));
  CHECK(one.lines == numbers(16));
  one.channel->later([&] { was_called = true; });
  CHECK(one.bench.until([&] { return was_called; }));
  CHECK(one.lines.size() < 40);
  one.bench.settle();
  CHECK(one.lines == numbers(40));
  CHECK(one.turns == 3);
  CHECK(one.backlog.empty());
}

TEST_CASE("fewer messages are handled at a time where they take long: 5 ms are one slice") {
  LinesTaken one;
  one.each_takes = 2ms;
  one.stream.deliver(numbered_lines(1, 7));
  CHECK(one.lines == numbers(3));
  one.bench.settle();
  CHECK(one.lines == numbers(7));
}

TEST_CASE("a client is not read while 16 KiB of its input wait, and is again when less does") {
  LinesTaken one;
  one.is_busy = true;
  const std::string line(1023, 'x');
  for (int i = 0; i < 15; ++i) one.stream.deliver(line + "\n");
  CHECK(one.stream.is_read());
  one.stream.deliver(line + "\n");
  CHECK_FALSE(one.stream.is_read());
  one.go_on();  // still busy
  CHECK_FALSE(one.stream.is_read());
  CHECK(one.lines.empty());
  one.is_busy = false;
  one.go_on();
  one.bench.settle();
  CHECK(one.lines == std::vector<std::string>(16, line));
  CHECK(one.stream.is_read());
}

TEST_CASE("what waits for the next slice of a connection that has closed is not handled") {
  LinesTaken one;
  one.stream.deliver(numbered_lines(1, 40));
  one.channel->abort();
  one.bench.settle();
  CHECK(one.lines == numbers(16));
}

}  // namespace rkllm_mcp::test
