// A process that was started: what it finds, and what the system tells of it until it is reaped.
#include "worker/child_process.hpp"

#include "process/descriptor.hpp"
#include "server/worker/worker_commands.hpp"
#include "support/catch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <string>
#include <system_error>
#include <utility>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

// A child with what is at the other ends of its control socket and its log. It is killed and reaped with this.
class Child {
 public:
  explicit Child(const ChildProcess::Command& command)
      : control_(make_seqpacket_pair()), log_(make_pipe()), process_(command, control_.second, log_.second) {
    control_.second.close();
    log_.second.close();
  }
  explicit Child(const std::string& script) : Child(shell(script)) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (is_reaped_) return;
    process_.kill();
    process_.reap();
  }

  const ChildProcess& operator*() const { return process_; }
  const ChildProcess* operator->() const { return &process_; }
  ChildProcess::End reap() {
    is_reaped_ = true;
    return process_.reap();
  }
  // All that it prints, until nobody can print any more.
  std::string printed() const {
    std::string text;
    std::array<char, 256> bytes{};
    while (true) {
      const ssize_t got = ::read(log_.first.number(), bytes.data(), bytes.size());
      if (got <= 0) return text;
      text.append(bytes.data(), static_cast<std::size_t>(got));
    }
  }
  const Descriptor& control() const { return control_.first; }
  // Sends it a signal that stops it, or lets it go on, and waits until it has.
  void signal(int number, int becomes) const {
    ::kill(process_.id(), number);
    siginfo_t news{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(process_.id()), &news, becomes | WNOWAIT) == 0);
  }

 private:
  DescriptorPair control_;
  DescriptorPair log_;
  const ChildProcess process_;
  bool is_reaped_ = false;
};

bool has_news(const Descriptor& descriptor, int timeout_ms) {
  pollfd asked{descriptor.number(), POLLIN, 0};
  return ::poll(&asked, 1, timeout_ms) > 0;
}

constexpr const char* kUntilKilled = "exec sleep 1000";

}  // namespace

TEST_CASE("a child finds its words, and both of its outputs are its log, in the order in which it prints") {
  const Child child({"/bin/sh", {"-c", "echo \"$0 $#: $1,$2\"; echo err >&2; echo out", "name", "a b", "$(c)"}});
  CHECK(child.printed() == "name 2: a b,$(c)\nerr\nout\n");
}

TEST_CASE("a child is called like this program, and nothing comes from its standard input") {
  const Child child("tr '\\0' ' ' </proc/$$/cmdline | cut -d' ' -f1; cat; echo end");
  CHECK(child.printed() == "rkllm-mcp\nend\n");
}

TEST_CASE("a child has the control socket, and no other descriptor that was open here") {
  const Descriptor inherited(::fcntl(STDERR_FILENO, F_DUPFD, 200));  // not closed on exec
  REQUIRE(inherited.number() >= 200);
  const std::string number = std::to_string(inherited.number());
  const Child child("[ -S /proc/$$/fd/3 ] && echo control; [ -e /proc/$$/fd/" + number + " ] && echo more; " +
                    "[ -e /proc/$$/fd/4 ] && echo next; exit 0");
  CHECK(child.printed() == "control\n");
  CHECK(::fcntl(inherited.number(), F_GETFD) == 0);  // here it stays as it was
}

TEST_CASE("what is written to the control socket reaches the child, and its end, too") {
  Child child("head -c 5 <&3; cat <&3; echo end");
  REQUIRE(::send(child.control().number(), "hello", 5, MSG_NOSIGNAL) == 5);
  ::shutdown(child.control().number(), SHUT_WR);
  CHECK(child.printed() == "helloend\n");
  CHECK(child.reap().exit_code == 0);
}

TEST_CASE("a child that has exited says with which code, and is there until it is reaped") {
  const int code = GENERATE(0, 1, 127, 255);
  Child child("exit " + std::to_string(code));
  CHECK(child->has_ended(ChildProcess::Wait::kYes));
  CHECK(child->has_ended(ChildProcess::Wait::kNo));
  CHECK(child->has_ended(ChildProcess::Wait::kYes));
  CHECK(::kill(child->id(), 0) == 0);
  const ChildProcess::End end = child.reap();
  CHECK(end.signal == 0);
  CHECK(end.exit_code == code);
  CHECK(::kill(child->id(), 0) == -1);
  CHECK(errno == ESRCH);
}

TEST_CASE("a child that a signal has ended says which one") {
  const auto [name, number] =
      GENERATE(table<std::string, int>({{"TERM", SIGTERM}, {"KILL", SIGKILL}, {"USR1", SIGUSR1}}));
  Child child("kill -" + name + " $$");
  const ChildProcess::End end = child.reap();  // which waits
  CHECK(end.signal == number);
  CHECK(end.exit_code == 0);
}

TEST_CASE("a child goes on until it is killed, and may be killed twice") {
  Child child(kUntilKilled);
  CHECK_FALSE(child->has_ended(ChildProcess::Wait::kNo));
  CHECK_FALSE(child->is_stopped());
  child->kill();
  CHECK(child->has_ended(ChildProcess::Wait::kYes));
  child->kill();
  CHECK(child.reap().signal == SIGKILL);
}

TEST_CASE("a child that is stopped has not ended, goes on when it is let, and can be killed while it is stopped") {
  Child child(kUntilKilled);
  child.signal(SIGSTOP, WSTOPPED);
  CHECK(child->is_stopped());
  CHECK(child->is_stopped());
  CHECK_FALSE(child->has_ended(ChildProcess::Wait::kNo));
  child.signal(SIGCONT, WCONTINUED);
  CHECK_FALSE(child->is_stopped());
  child.signal(SIGSTOP, WSTOPPED);
  child->kill();
  CHECK(child->has_ended(ChildProcess::Wait::kYes));
  CHECK_FALSE(child->is_stopped());
  CHECK(child.reap().signal == SIGKILL);
}

TEST_CASE("the news of a child's end come with it, and stay until it is reaped") {
  Child child(kUntilKilled);
  const Descriptor news = child->end_news();
  if (news.number() < 0) return;  // an old Linux
  CHECK_FALSE(has_news(news, 0));
  child.signal(SIGSTOP, WSTOPPED);
  CHECK_FALSE(has_news(news, 0));
  child->kill();
  CHECK(has_news(news, -1));
  CHECK(has_news(child->end_news(), 0));
  CHECK(child->has_ended(ChildProcess::Wait::kNo));
}

TEST_CASE("a program that cannot be started is named, with the reason") {
  const auto [program, reason] =
      GENERATE(table<std::string, int>({{"/no/such/program", ENOENT}, {"/dev/null", EACCES}, {"", ENOENT}}));
  const DescriptorPair control = make_seqpacket_pair();
  const DescriptorPair log = make_pipe();
  try {
    const ChildProcess child({program, {}}, control.second, log.second);
    FAIL("it was started");
  } catch (const std::system_error& error) {
    CHECK(error.code().value() == reason);
    CHECK_THAT(error.what(), has_text("cannot start " + program));
  }
}
