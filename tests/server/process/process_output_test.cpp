#include "process/process_output.hpp"

#include "support/catch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp {
namespace {

using std::chrono::milliseconds;
using LinesSeen = std::vector<std::string>;

constexpr milliseconds kAnyTime{-1};  // of poll(): for ever

// The pipe of a process that the test plays.
struct PlayedProcess {
  void print(std::string_view text) const {
    REQUIRE(::write(pipe.second.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }

  DescriptorPair pipe = make_pipe();
  LinesSeen seen;
  ProcessOutput output{std::move(pipe.first), [this](std::string_view line) { seen.emplace_back(line); }};
};

}  // namespace

TEST_CASE("lines are given on as they come, and one without an end waits for it") {
  PlayedProcess process;
  CHECK(process.output.read() == ProcessOutput::Read::kAll);
  process.print("one\ntw");
  CHECK(process.output.read() == ProcessOutput::Read::kAll);
  CHECK(process.seen == LinesSeen{"one"});
  process.print("o\n\xFF\n");
  CHECK(process.output.read() == ProcessOutput::Read::kAll);
  CHECK(process.seen.size() == 3);
  CHECK(process.seen[1] == "two");
  CHECK(process.output.line_count() == 3);
}

TEST_CASE("when nobody can write any more, what stands there without an end is a line") {
  PlayedProcess process;
  process.print("one\ntwo");
  process.pipe.second.close();
  CHECK(process.output.read() == ProcessOutput::Read::kEnd);
  CHECK(process.seen == LinesSeen{"one", "two"});
  CHECK(process.output.read() == ProcessOutput::Read::kEnd);
  CHECK(process.output.line_count() == 2);
}

TEST_CASE("the rest of an ended process is taken, also where another one can write on") {
  PlayedProcess process;
  process.print("one\ntwo");
  process.output.read_rest();
  CHECK(process.seen == LinesSeen{"one", "two"});
}

TEST_CASE("what another process writes on without end does not hold up the end of the one that is watched") {
  constexpr std::size_t kEnough = 100'000;
  DescriptorPair pipe = make_pipe();
  std::size_t lines = 0;
  ProcessOutput output(std::move(pipe.first), [&](std::string_view) {
    // So there is always more to read.
    if (++lines < kEnough) REQUIRE(::write(pipe.second.number(), "on\n", 3) == 3);
  });
  REQUIRE(::write(pipe.second.number(), "on\n", 3) == 3);
  output.read_rest();
  CHECK(lines < kEnough);
}

TEST_CASE("of a lot of output a good part is taken at a time, and the rest of an ended process whole") {
  constexpr int kPipe = 1 << 20;
  constexpr std::size_t kLines = 10'000;
  PlayedProcess process;
  REQUIRE(::fcntl(process.pipe.second.number(), F_SETPIPE_SZ, kPipe) == kPipe);
  for (std::size_t i = 0; i < kLines; ++i) process.print(std::string(49, 'x') + "\n");
  CHECK(process.output.read() == ProcessOutput::Read::kMore);
  CHECK(process.output.line_count() > 0);
  CHECK(process.output.line_count() < kLines);
  process.output.read_rest();
  CHECK(process.output.line_count() == kLines);
}

TEST_CASE("the error lines since a place are told") {
  PlayedProcess process;
  process.print("E rkllm: first\n");
  process.output.read();
  const auto place = process.output.line_count();
  process.print("I rkllm: nothing\nE rkllm: second\n");
  process.output.read();
  CHECK(process.output.errors_since(place) == LinesSeen{"E rkllm: second"});
  CHECK(process.output.errors_since(0) == LinesSeen{"E rkllm: first", "E rkllm: second"});
}

TEST_CASE("a wait ends for output, for the other descriptor, of which it tells, and when there is no time left") {
  PlayedProcess process;
  const DescriptorPair other = make_pipe();
  CHECK_FALSE(process.output.wait(milliseconds(0)));
  CHECK_FALSE(process.output.wait(milliseconds(0), other.first.number()));
  REQUIRE(::write(other.second.number(), "x", 1) == 1);
  CHECK(process.output.wait(kAnyTime, other.first.number()));
  process.print("one\n");
  CHECK(process.output.wait(kAnyTime, other.first.number()));
  CHECK_FALSE(process.output.wait(kAnyTime));
  char byte = 0;
  REQUIRE(::read(other.first.number(), &byte, 1) == 1);
  CHECK_FALSE(process.output.wait(kAnyTime, other.first.number()));
}

}  // namespace rkllm_mcp
