// What the log's thread does with lines, without the thread. How the whole log behaves is in log_test.cpp.
#include "log_sink.hpp"

#include "support/catch.hpp"
#include "support/process.hpp"

#include <spdlog/details/log_msg.h>

#include <cstdint>
#include <string>
#include <vector>

namespace rkllm_mcp {
namespace {

// A sink that writes what it is given and nothing before it.
struct PlainSink {
  explicit PlainSink(const std::string& file) : sink(LogOutput(file)) { sink.set_pattern("%l:%v"); }
  void info(const std::string& words) { sink.log({"test", spdlog::level::info, words}); }
  LogSink sink;
};

constexpr const char* kFull = "/dev/full";  // where nothing can be written

}  // namespace

TEST_CASE("a line is written as the pattern says, and is among the last lines") {
  const test::TemporaryDirectory directory;
  PlainSink log(directory / "log");
  log.info("one");
  log.info("two");
  CHECK(test::read_file(directory / "log") == "info:one\ninfo:two\n");
  CHECK(log.sink.tail().from(0).lines == std::vector<std::string>{"info:one", "info:two"});
  CHECK(log.sink.lost() == 0);
}

TEST_CASE("lines that cannot be written are counted and stay in memory, and are told of before the next that can be") {
  const test::TemporaryDirectory directory;
  PlainSink log(kFull);
  for (const char* const words : {"a", "b", "c"}) log.info(words);
  CHECK(log.sink.lost() == 3);
  CHECK(log.sink.tail().from(0).lines.size() == 3);
  log.sink.move_to(LogOutput(directory / "log"));
  CHECK(test::read_file(directory / "log").empty());  // from the next line on
  log.info("d");
  log.info("e");
  CHECK(test::read_file(directory / "log") ==
        "warning:3 lines of this log were lost: No space left on device\ninfo:d\ninfo:e\n");
  CHECK(log.sink.lost() == 3);
  CHECK(log.sink.tail().from(0).lines.size() == 5);
}

TEST_CASE("only what has not been told of is told, with its own reason") {
  const test::TemporaryDirectory directory;
  std::uint64_t before = 0;
  PlainSink log(kFull);
  log.sink.know_losses([&before] { return before; });
  log.info("a");
  log.sink.move_to(LogOutput(directory / "first"));
  log.info("b");
  before = 5;
  CHECK(log.sink.lost() == 6);
  log.info("c");
  CHECK(test::read_file(directory / "first") ==
        "warning:1 lines of this log were lost: No space left on device\ninfo:b\n"
        "warning:5 lines of this log were lost: nobody read it\ninfo:c\n");
  log.sink.move_to(LogOutput(kFull));
  log.info("d");
  log.info("e");
  log.sink.move_to(LogOutput(directory / "second"));
  log.info("f");
  CHECK(test::read_file(directory / "second") ==
        "warning:2 lines of this log were lost: No space left on device\ninfo:f\n");
  CHECK(log.sink.lost() == 8);
}

TEST_CASE("losses on the way here that were not told of yet are told together with those here") {
  const test::TemporaryDirectory directory;
  std::uint64_t before = 2;
  PlainSink log(kFull);
  log.sink.know_losses([&before] { return before; });
  log.info("a");
  before = 4;
  log.info("b");
  log.sink.move_to(LogOutput(directory / "log"));
  log.info("c");
  CHECK(test::read_file(directory / "log") ==
        "warning:6 lines of this log were lost: No space left on device\ninfo:c\n");
}

}  // namespace rkllm_mcp
