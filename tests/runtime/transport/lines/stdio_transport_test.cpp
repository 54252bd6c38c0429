#include "transport/lines/stdio_transport.hpp"

#include "../echo.hpp"
#include "../loop_thread.hpp"
#include "support/catch.hpp"
#include "support/usual_limits.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;
using namespace std::chrono_literals;

namespace {

struct Descriptors {
  int ours;
  int theirs;
};

// Reads from `descriptor` until it ends.
std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> piece{};
  pollfd state{descriptor, POLLIN, 0};
  while (::poll(&state, 1, 20'000) == 1) {
    const auto count = ::read(descriptor, piece.data(), piece.size());
    if (count <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
  return text;
}

void write_all(int descriptor, std::string_view text) {
  REQUIRE(::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

Descriptors make_pipe() {
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  return {ends[0], ends[1]};
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) {
    std::string name = "/tmp/stdio-test-XXXXXX";
    ::close(::mkstemp(name.data()));
    path_ = name;
    std::ofstream(path_) << text;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::remove(path_.c_str()); }

  const std::string& path() const { return path_; }
  std::string text() const {
    std::stringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

 private:
  std::string path_;
};

bool is_blocking(int descriptor) { return (::fcntl(descriptor, F_GETFL) & O_NONBLOCK) == 0; }

}  // namespace

TEST_CASE("stdio: over pipes, the end of the input is answered and closes the output") {
  const auto input = make_pipe();
  const auto output = make_pipe();
  Echo echo;
  LoopThread loop;
  OnLoop<StdioTransport> stdio(loop, StdioOptions{input.ours, output.theirs, usual_limits<ConnectionLimits>()},
                               echo.accept(loop));
  CHECK(is_blocking(input.ours));
  CHECK(is_blocking(output.theirs));
  write_all(input.theirs, "one\ntwo\r\nthree");
  ::close(input.theirs);
  ::close(output.theirs);  // the caller's own; the transport holds another
  CHECK(read_all(output.ours) == "one\ntwo\nthree\n");
  CHECK(loop.eventually([&] { return echo.closed == 1; }));
  CHECK(loop.call([&] { return echo.peers[0]->facts().address; }) == "stdio");
  CHECK(stdio.eventually([](auto& transport) { return transport.connection_count() == 0; }));
  ::close(input.ours);
  ::close(output.ours);
}

TEST_CASE("stdio: over a socket pair, as some hosts use, both directions share one descriptor") {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  Echo echo;
  {
    LoopThread loop;
    OnLoop<StdioTransport> stdio(loop, StdioOptions{ends[0], ends[0], usual_limits<ConnectionLimits>()},
                                 echo.accept(loop));
    write_all(ends[1], "hello\n");
    ::shutdown(ends[1], SHUT_WR);
    REQUIRE(loop.eventually([&] { return echo.closed == 1; }));
  }
  CHECK(is_blocking(ends[0]));
  ::close(ends[0]);
  CHECK(read_all(ends[1]) == "hello\n");
  ::close(ends[1]);
}

TEST_CASE("stdio: regular files work as input and output") {
  const TemporaryFile input("skipped\none\ntwo");
  const TemporaryFile output("kept\n");
  const int in = ::open(input.path().c_str(), O_RDONLY | O_CLOEXEC);
  const int out = ::open(output.path().c_str(), O_WRONLY | O_CLOEXEC);
  ::lseek(in, 8, SEEK_SET);
  ::lseek(out, 5, SEEK_SET);
  Echo echo;
  LoopThread loop;
  OnLoop<StdioTransport> stdio(loop, StdioOptions{in, out, usual_limits<ConnectionLimits>()}, echo.accept(loop));
  CHECK(loop.eventually([&] { return echo.closed == 1; }));
  CHECK(output.text() == "kept\none\ntwo\n");
  ::close(in);
  ::close(out);
}

TEST_CASE("stdio: /dev/null is an input that ends at once") {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  Echo echo;
  LoopThread loop;
  OnLoop<StdioTransport> stdio(loop, StdioOptions{null, null, usual_limits<ConnectionLimits>()}, echo.accept(loop));
  CHECK(loop.eventually([&] { return echo.messages == std::vector<std::string>{"end"} && echo.closed == 1; }));
  ::close(null);
}

TEST_CASE("stdio: a terminal works and stays as it was for those who share it") {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  REQUIRE(master >= 0);
  REQUIRE(::grantpt(master) == 0);
  REQUIRE(::unlockpt(master) == 0);
  const int terminal = ::open(::ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  REQUIRE(terminal >= 0);
  Echo echo;
  LoopThread loop;
  OnLoop<StdioTransport> stdio(loop, StdioOptions{terminal, terminal, usual_limits<ConnectionLimits>()},
                               echo.accept(loop));
  write_all(master, "hello\n");
  REQUIRE(loop.eventually([&] { return echo.messages.size() == 1; }));
  CHECK(is_blocking(terminal));
  write_all(master, "\x04");  // end of input, as typed
  CHECK(loop.eventually([&] { return echo.closed == 1; }));
  ::close(terminal);
  ::close(master);
}

TEST_CASE(
    "stdio: a reader that has gone is noticed while a stream is written, and after the input's end even without") {
  const auto input = make_pipe();
  const auto output = make_pipe();
  const Event gone;
  const Event ended;
  std::shared_ptr<Peer> peer;
  const AcceptFunction accept = [&](Peer& accepted) -> ReceiveFunction {
    peer = accepted.shared_from_this();
    accepted.when_closed([gone] { gone.happen(); });
    return [ended](const Received&) { ended.happen(); };  // and does not close
  };
  LoopThread loop;
  loop.before_end([&peer] { peer.reset(); });
  OnLoop<StdioTransport> stdio(loop, StdioOptions{input.ours, output.theirs, usual_limits<ConnectionLimits>()}, accept);
  ::close(output.theirs);
  SECTION("while a stream is written") {
    loop.call([&] { Flood::start(*peer, 1'000'000'000); });
    ::close(output.ours);
    CHECK(gone.happens());
    ::close(input.theirs);
  }
  SECTION("after the end of the input") {
    ::close(input.theirs);
    REQUIRE(ended.happens());
    loop.call([] {});  // what the end of the input brings about has come when the loop takes the next thing
    CHECK_FALSE(gone.happens_within(0ms));
    ::close(output.ours);
    CHECK(gone.happens());
  }
  ::close(input.ours);
}

TEST_CASE("stdio: 20,000 messages arrive complete and in order") {
  const auto input = make_pipe();
  const auto output = make_pipe();
  Echo echo;
  LoopThread loop;
  OnLoop<StdioTransport> stdio(loop, StdioOptions{input.ours, output.theirs, usual_limits<ConnectionLimits>()},
                               echo.accept(loop));
  ::close(output.theirs);
  loop.call([&] { Flood::start(*echo.peers[0], 20'000); });
  std::string expected;
  for (std::size_t i = 0; i < 20'000; ++i) expected += Flood::message(i) + "\n";
  std::string text;
  std::array<char, 4096> piece{};
  while (text.size() < expected.size()) {
    pollfd state{output.ours, POLLIN, 0};
    REQUIRE(::poll(&state, 1, 20'000) == 1);
    const auto count = ::read(output.ours, piece.data(), piece.size());
    REQUIRE(count > 0);
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
  CHECK((text == expected));
  ::close(input.theirs);
  ::close(input.ours);
  ::close(output.ours);
}

TEST_CASE("stdio: a descriptor that is not open is an error") {
  LoopThread loop;
  CHECK_THROWS_AS(OnLoop<StdioTransport>(loop, StdioOptions{-1, 1, usual_limits<ConnectionLimits>()}, accept_nobody),
                  std::system_error);
}

TEST_CASE("stdio: what the layer above throws closes the connection, and the loop goes on") {
  const auto input = make_pipe();
  const auto output = make_pipe();
  Echo echo;
  LoopThread loop;
  loop.expect_faults();
  OnLoop<StdioTransport> stdio(loop, StdioOptions{input.ours, output.theirs, usual_limits<ConnectionLimits>()},
                               echo.accept(loop));
  write_all(input.theirs, "{fault}\n{after}\n");
  CHECK(loop.has_faults(1));
  CHECK(loop.eventually([&] { return echo.closed == 1 && echo.messages.empty(); }));
  for (const int descriptor : {input.ours, input.theirs, output.ours, output.theirs}) ::close(descriptor);
}

TEST_CASE("stdio: a line that is no JSON is a message like others, also the first") {
  const auto input = make_pipe();
  const auto output = make_pipe();
  Echo echo;
  LoopThread loop;
  OnLoop<StdioTransport> stdio(loop, StdioOptions{input.ours, output.theirs, usual_limits<ConnectionLimits>()},
                               echo.accept(loop));
  write_all(input.theirs, "hello from a shell's profile\n{}\n");
  ::close(input.theirs);
  ::close(output.theirs);
  CHECK(read_all(output.ours) == "hello from a shell's profile\n{}\n");
  ::close(input.ours);
  ::close(output.ours);
}
