// The log holds nobody up, and tells what it has lost.
#include "log.hpp"

#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>

namespace rkllm_mcp {
namespace {

using Clock = std::chrono::steady_clock;

// Standard error of this process leads into a pipe of one page while this lives.
class SmallPipe {
 public:
  SmallPipe() : before_(::dup(STDERR_FILENO)) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    REQUIRE(::fcntl(ends[1], F_SETPIPE_SZ, 4096) == 4096);
    REQUIRE(::dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
    ::close(ends[1]);
    reader_ = ends[0];
  }
  SmallPipe(const SmallPipe&) = delete;
  SmallPipe& operator=(const SmallPipe&) = delete;
  ~SmallPipe() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
    ::close(reader_);
  }

  // Reads until `text` has come; nothing if it does not.
  std::string read_until(const std::string& text) const {
    std::string all;
    pollfd state{reader_, POLLIN, 0};
    while (all.find(text) == std::string::npos && ::poll(&state, 1, 20'000) == 1) {
      std::array<char, 4096> part{};
      const auto count = ::read(reader_, part.data(), part.size());
      if (count <= 0) break;
      all.append(part.data(), static_cast<std::size_t>(count));
    }
    return all;
  }

 private:
  int before_;
  int reader_ = -1;
};

std::string text_of(const std::string& path) { return test::read_file(path); }

}  // namespace

TEST_CASE("standard error that nobody reads holds up neither who logs nor the end, and its flags stay as they are") {
  const SmallPipe pipe;
  const auto begun = Clock::now();
  {
    Log log{Settings().log};
    for (int line = 0; line < 20'000; ++line) log.logger().info("line {}", line);
    CHECK(log.lost_lines() > 10'000);
    CHECK((::fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK) == 0);
    say_on_standard_error("nor does this");
  }
  CHECK(Clock::now() - begun < std::chrono::seconds(5));
}

TEST_CASE("what comes after lines were lost says how many, and no line is cut") {
  const SmallPipe pipe;
  Log log{Settings().log};
  for (int line = 0; line < 20'000; ++line) log.logger().info("line {}", line);
  const std::string text = pipe.read_until("line 19999\n");
  const auto lost = text.find(" warning: ");
  REQUIRE(lost != std::string::npos);
  CHECK(text.find(" lines of this log were lost: nobody read it\n", lost) < text.find('\n', lost) + 1);
  log.logger().info("the last");
  CHECK(pipe.read_until("the last\n").find("lost") == std::string::npos);
  std::size_t lines = 0;
  for (std::size_t at = 0; at < text.size(); ++lines) {
    const auto end = text.find('\n', at);
    REQUIRE(end != std::string::npos);
    const std::string line = text.substr(at, end - at);
    CHECK((line.find(" info: line ") != std::string::npos || line.find(" warning: ") != std::string::npos));
    at = end + 1;
  }
  CHECK(lines + log.lost_lines() >= 20'000);
}

TEST_CASE("of what was logged just before the end each line is written, or told of as lost") {
  const test::TemporaryDirectory directory;
  for (int round = 0; round < 20; ++round) {
    LogSettings settings = Settings().log;
    settings.file = directory / std::to_string(round);
    constexpr std::uint64_t kLines = 10'000;
    {
      Log log(settings);
      for (std::uint64_t line = 0; line < kLines; ++line) log.logger().info("line {}", line);
    }
    std::istringstream text(text_of(settings.file));
    std::uint64_t accounted = 0;
    constexpr std::string_view kWarning = " warning: ";
    for (std::string line; std::getline(text, line);) {
      const auto warning = line.find(kWarning);
      accounted += warning == std::string::npos ? 1 : std::stoull(line.substr(warning + kWarning.size()));
    }
    REQUIRE(accounted == kLines);
  }
}

TEST_CASE("a full disk loses lines, which are counted and told of once there is room again") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "log";
  std::filesystem::create_symlink("/dev/full", path);
  LogSettings settings = Settings().log;
  settings.file = path;
  Log log(settings);
  for (int line = 0; line < 3; ++line) log.logger().info("lost {}", line);
  REQUIRE(test::eventually([&] { return log.lost_lines() >= 3; }));
  REQUIRE(std::filesystem::remove(path));
  REQUIRE(log.reopen());
  log.logger().info("kept");
  log.logger().info("kept as well");
  log.close();
  const std::string text = text_of(path);
  INFO(text);
  CHECK(text.find(" warning: 3 lines of this log were lost: No space left on device\n") != std::string::npos);
  CHECK(text.find("lost: ", text.find("lost: ") + 1) == std::string::npos);
  CHECK(text.ends_with("kept as well\n"));
}

TEST_CASE(
    "a log whose file was renamed goes on in a new one when it is opened again, and in the old one if it cannot be") {
  const test::TemporaryDirectory directory;
  const std::string folder = directory / "logs";
  const std::string path = folder + "/log";
  std::filesystem::create_directory(folder);
  LogSettings settings = Settings().log;
  settings.file = path;
  Log log(settings);
  log.logger().info("first");
  REQUIRE(test::eventually([&] { return !text_of(path).empty(); }));
  std::filesystem::rename(path, path + ".1");
  CHECK(log.reopen());
  CHECK(std::filesystem::exists(path));
  log.logger().info("second");
  std::filesystem::rename(folder, folder + ".old");
  CHECK_THROWS_WITH(log.reopen(), "log.file: " + path + ": No such file or directory");
  log.logger().info("third");
  log.close();
  CHECK(text_of(folder + ".old/log.1").ends_with("first\n"));
  CHECK(text_of(folder + ".old/log").find("second\n") != std::string::npos);
  CHECK(text_of(folder + ".old/log").ends_with("third\n"));
  CHECK_FALSE(Log{Settings().log}.reopen());
}

TEST_CASE("the last lines of the log stay in memory, numbered, whatever becomes of them elsewhere") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "log";
  std::filesystem::create_symlink("/dev/full", path);
  LogSettings settings = Settings().log;
  settings.file = path;
  Log log(settings);
  for (int line = 1; line <= 1500; ++line) log.logger().info("line {}", line);
  REQUIRE(test::eventually([&] {
    const LogTail::Part part = log.tail().from(1500);
    return !part.lines.empty() && part.first == 1500;
  }));
  const LogTail::Part all = log.tail().from(0);
  CHECK(all.first == 501);
  REQUIRE(all.lines.size() == LogTail::kMostLines);
  CHECK(all.lines.front().ends_with(" info: line 501"));
  CHECK(all.lines.back().ends_with(" info: line 1500"));
  const LogTail::Part some = log.tail().from(1499);
  CHECK(some.first == 1499);
  CHECK(some.lines.size() == 2);
  CHECK(log.tail().from(1501).lines.empty());
  CHECK(log.tail().from(1501).first == 1501);
  CHECK(log.tail().from(99'999).first == 501);  // of a server that was started again
}

TEST_CASE("what is kept of the log in memory is bounded, and a long line is cut") {
  LogTail tail;
  const std::string longest(2 * LogTail::kLongestLine, 'x');
  for (int line = 0; line < 100; ++line) tail.add(longest + "\n");
  const LogTail::Part part = tail.from(0);
  CHECK(part.lines.size() == LogTail::kMostBytes / LogTail::kLongestLine);
  CHECK(part.lines.front().size() == LogTail::kLongestLine);
  CHECK(part.first == 101 - part.lines.size());
}

TEST_CASE("a log's file that is a pipe nobody reads is refused instead of waited for") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  LogSettings settings = Settings().log;
  settings.file = path;
  CHECK_THROWS_WITH(Log(settings), "log.file: " + path + ": No such device or address");
}

}  // namespace rkllm_mcp
