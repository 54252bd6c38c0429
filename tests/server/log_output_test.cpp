// Where lines leave the process: files, pipes and sockets, and what becomes of a line that nobody takes.
#include "log_output.hpp"

#include "support/catch.hpp"
#include "support/process.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace rkllm_mcp {
namespace {

// Descriptor 2 of this process is another one while this lives. Negative: it is closed.
class OtherStandardError {
 public:
  explicit OtherStandardError(int descriptor) : before_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10)) {
    if (descriptor < 0) {
      ::close(STDERR_FILENO);
    } else {
      REQUIRE(::dup2(descriptor, STDERR_FILENO) == STDERR_FILENO);
    }
  }
  OtherStandardError(const OtherStandardError&) = delete;
  OtherStandardError& operator=(const OtherStandardError&) = delete;
  ~OtherStandardError() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
  }

 private:
  const int before_;
};

// A pipe of one page, or two sockets that are connected.
struct TwoEnds {
  enum class Kind { kPipe, kSockets };
  explicit TwoEnds(Kind kind) {
    if (kind == Kind::kPipe) {
      REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
      REQUIRE(::fcntl(ends[1], F_SETPIPE_SZ, kPage) == kPage);
      REQUIRE(::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    } else {
      REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    }
  }
  TwoEnds(const TwoEnds&) = delete;
  TwoEnds& operator=(const TwoEnds&) = delete;
  ~TwoEnds() {
    close_reader();
    ::close(ends[1]);
  }
  void close_reader() {
    if (ends[0] >= 0) ::close(ends[0]);
    ends[0] = -1;
  }
  // All that has come since the last time.
  std::string take() const {
    std::string all;
    std::array<char, 4096> bytes{};
    for (;;) {
      const auto count = ::recv(ends[0], bytes.data(), bytes.size(), MSG_DONTWAIT);
      const auto size = count < 0 && errno == ENOTSOCK ? ::read(ends[0], bytes.data(), bytes.size()) : count;
      if (size <= 0) return all;
      all.append(bytes.data(), static_cast<std::size_t>(size));
    }
  }
  static constexpr int kPage = 4096;
  std::array<int, 2> ends{-1, -1};
};

bool never_waits() { return false; }

// Nobody should have to ask.
bool is_not_asked() {
  FAIL_CHECK("there was room");
  return false;
}

LogOutput output_to(int descriptor) {
  const OtherStandardError other(descriptor);
  return LogOutput::standard_error();
}

}  // namespace

TEST_CASE("a log's file is made, readable for all and writable for its owner, and appended to") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "log";
  const mode_t before = ::umask(0);
  {
    LogOutput output(path);
    CHECK(output.write("one\n", is_not_asked) == 0);
  }
  ::umask(before);
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0644U);
  LogOutput output(path);
  test::write_file(path, "");  // somebody empties it
  CHECK(output.write("two\n", is_not_asked) == 0);
  CHECK(LogOutput(path).write("three\n", is_not_asked) == 0);
  CHECK(output.write("four\n", is_not_asked) == 0);
  CHECK(test::read_file(path) == "two\nthree\nfour\n");
}

TEST_CASE("a log's file that cannot be opened is named, with the reason") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "absent/log";
  try {
    const LogOutput output(path);
    FAIL("it was opened");
  } catch (const std::system_error& error) {
    CHECK(error.code().value() == ENOENT);
    CHECK_THAT(error.what(), test::has_text(path));
  }
}

TEST_CASE("a line that cannot be written is lost for the reason that the system gives") {
  CHECK(LogOutput("/dev/full").write("x\n", is_not_asked) == ENOSPC);
  CHECK(output_to(-1).write("x\n", is_not_asked) == EBADF);
  TwoEnds sockets(TwoEnds::Kind::kSockets);
  LogOutput output = output_to(sockets.ends[1]);
  sockets.close_reader();
  CHECK(output.write("x\n", is_not_asked) == EPIPE);  // and no signal ends the process
}

TEST_CASE("standard error is what it was when it was asked for, be it a file, a pipe or a socket") {
  const test::TemporaryDirectory directory;
  const int file = ::open((directory / "file").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  LogOutput to_file = output_to(file);
  ::close(file);
  CHECK(to_file.write("to the file\n", is_not_asked) == 0);
  CHECK(test::read_file(directory / "file") == "to the file\n");
  for (const auto kind : {TwoEnds::Kind::kPipe, TwoEnds::Kind::kSockets}) {
    const TwoEnds ends(kind);
    LogOutput output = output_to(ends.ends[1]);
    CHECK(output.write("to the reader\n", is_not_asked) == 0);
    CHECK(ends.take() == "to the reader\n");
    CHECK((::fcntl(ends.ends[1], F_GETFL) & O_NONBLOCK) == 0);  // which others have, too
  }
}

TEST_CASE("who may not wait loses a line that has no room, and the next one that has room is written") {
  for (const auto kind : {TwoEnds::Kind::kPipe, TwoEnds::Kind::kSockets}) {
    const TwoEnds ends(kind);
    LogOutput output = output_to(ends.ends[1]);
    const std::string line = std::string(63, 'x') + "\n";  // a page holds a whole number of them
    std::string written;
    int error = 0;
    while ((error = output.write(line, never_waits)) == 0) written += line;
    CHECK(error == EAGAIN);
    CHECK(output.write("lost as well\n", never_waits) == EAGAIN);
    const std::string taken = ends.take();
    CHECK(output.write("kept\n", never_waits) == 0);
    CHECK(taken + ends.take() == written + "kept\n");
  }
}

TEST_CASE("who may wait is asked again and again until there is room") {
  const TwoEnds pipe(TwoEnds::Kind::kPipe);
  LogOutput output = output_to(pipe.ends[1]);
  REQUIRE(output.write(std::string(TwoEnds::kPage, 'x'), is_not_asked) == 0);
  int asked = 0;
  std::string taken;
  CHECK(output.write("y\n", [&] {
    if (++asked == 3) taken = pipe.take();
    return true;
  }) == 0);
  CHECK(asked == 3);
  CHECK(taken == std::string(TwoEnds::kPage, 'x'));
  CHECK(pipe.take() == "y\n");
}

TEST_CASE("what a line was cut at leaves before the next one, also when the output has been moved meanwhile") {
  const TwoEnds pipe(TwoEnds::Kind::kPipe);
  LogOutput first = output_to(pipe.ends[1]);
  const std::string line = std::string(TwoEnds::kPage, 'x') + "rest\n";
  CHECK(first.write(line, never_waits) == 0);  // it will be written
  CHECK(first.write("lost\n", never_waits) == EAGAIN);
  LogOutput second = std::move(first);
  LogOutput third("/dev/null");
  third = std::move(second);
  std::string text = pipe.take();
  CHECK(third.write("next\n", never_waits) == 0);
  text += pipe.take();
  CHECK(text == line + "next\n");
}

TEST_CASE("a line is cut no more than once, however slowly its rest is taken") {
  const TwoEnds pipe(TwoEnds::Kind::kPipe);
  LogOutput output = output_to(pipe.ends[1]);
  const std::string line = std::string(3L * TwoEnds::kPage, 'x') + "\n";
  CHECK(output.write(line, never_waits) == 0);
  std::string text;
  int lost = 0;
  for (int time = 0; time < 3; ++time) {
    text += pipe.take();
    if (output.write("y\n", never_waits) != 0) ++lost;
  }
  text += pipe.take();
  CHECK(lost == 2);
  CHECK(text == line + "y\n");
}

TEST_CASE("what is said outside of the log is a line of standard error") {
  const TwoEnds pipe(TwoEnds::Kind::kPipe);
  {
    const OtherStandardError other(pipe.ends[1]);
    say_on_standard_error("the server begins");
    say_on_standard_error("");
  }
  CHECK(pipe.take() == "the server begins\n\n");
}

}  // namespace rkllm_mcp
