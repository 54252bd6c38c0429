// MCP servers that are started by a command: shell scripts stand for them.
#include "upstreams/command_connection.hpp"

#include "process/descriptor.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/no_more_threads.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <string>
#include <system_error>

namespace rkllm_mcp {
namespace {

using namespace std::chrono_literals;
using client::ConnectionError;

constexpr auto kPatience = 20s;

Clock::time_point soon() { return std::chrono::steady_clock::now() + kPatience; }

ServerCommand shell(const std::string& script) { return {"sh", {"-c", script}}; }

void ignore(std::string_view) {}

std::string complaint_of(const std::function<void()>& function) {
  try {
    function();
  } catch (const ConnectionError& error) {
    return error.what();
  }
  return "none";
}

bool is_gone(pid_t id) { return ::kill(id, 0) != 0; }

}  // namespace

TEST_CASE("a command gets and gives messages, and lines of its standard error come out") {
  std::promise<std::string> line;
  CommandConnection connection(shell("echo ready >&2; while read -r text; do echo \"got $text\"; done"),
                               [&line](std::string_view text) { line.set_value(std::string(text)); });
  CHECK(line.get_future().get() == "ready");
  connection.send(R"({"id":1})");
  CHECK(connection.receive(soon()) == R"(got {"id":1})");
  CHECK_FALSE(connection.receive(std::chrono::steady_clock::now()));
}

TEST_CASE("a command has this program's variables but for its settings, and its own before them") {
  ::setenv("RKLLM_MCP_SECRET", "s", 1);
  ::setenv("UPSTREAM_TEST", "theirs", 1);
  ServerCommand command = shell("echo \"$RKLLM_MCP_SECRET:$UPSTREAM_TEST:$OWN:${PATH:+path}\"; cat >/dev/null");
  command.environment = {{"OWN", "own"}, {"UPSTREAM_TEST", "ours"}};
  CommandConnection connection(command, ignore);
  CHECK(connection.receive(soon()) == ":ours:own:path");
  ::unsetenv("RKLLM_MCP_SECRET");
  ::unsetenv("UPSTREAM_TEST");
}

TEST_CASE("a command may have as many files open as this program could before it raised its limit, and no more") {
  rlimit usual{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &usual) == 0);
  REQUIRE(usual.rlim_max > 256);
  rlimit limit{256, usual.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
  raise_file_limit();
  ::getrlimit(RLIMIT_NOFILE, &limit);
  CHECK(limit.rlim_cur == limit.rlim_max);
  CommandConnection connection(shell("ulimit -n; cat >/dev/null"), ignore);
  CHECK(connection.receive(soon()) == "256");
  ::setrlimit(RLIMIT_NOFILE, &usual);
}

TEST_CASE("a command that cannot be started, or has ended, is told from others, with its last words") {
  CHECK(complaint_of([] { CommandConnection({"/no/such/program"}, ignore); }) ==
        "cannot start /no/such/program: No such file or directory");
  CommandConnection ended(shell("echo no key is set >&2; exit 3"), ignore);
  CHECK(complaint_of([&] { ended.receive(soon()); }) == "sh has ended with exit code 3: no key is set");
  CommandConnection killed(shell("kill -9 $$"), ignore);
  CHECK(complaint_of([&] { killed.receive(soon()); }) == "sh has ended by signal 9");
}

TEST_CASE("a command ends with its connection, also one that wants to stay, and what it has started goes, too") {
  pid_t leader = 0;
  pid_t child = 0;
  {
    CommandConnection connection(shell("trap '' TERM; sleep 1000 & echo $$; echo $!; while :; do sleep 1; done"),
                                 ignore);
    leader = std::stoi(*connection.receive(soon()));
    child = std::stoi(*connection.receive(soon()));
  }
  CHECK(is_gone(leader));
  CHECK(test::eventually([child] { return is_gone(child); }));  // whoever adopts it waits for it
}

TEST_CASE("a command that ends by itself when its input ends is not hurried") {
  std::string id;
  {
    CommandConnection connection(shell("trap 'exit 1' TERM; echo $$; cat >/dev/null; exit 0"), ignore);
    id = *connection.receive(soon());
  }
  CHECK(is_gone(std::stoi(id)));
}

TEST_CASE("interrupting ends a wait for a message at once") {
  CommandConnection connection(shell("echo here; cat >/dev/null"), ignore);
  CHECK(connection.receive(soon()) == "here");
  auto waiting = std::async(std::launch::async, [&] { return complaint_of([&] { connection.receive(soon()); }); });
  connection.interrupt();
  CHECK(waiting.get() != "none");
}

TEST_CASE("a command whose standard error nobody can read, for want of a thread, is not left behind") {
  const test::NoMoreThreads none;
  CHECK_THROWS_AS(CommandConnection(shell("cat >/dev/null; sleep 1000"), ignore), std::system_error);
  siginfo_t ended{};
  CHECK(::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == -1);  // there is no child, and none is taken away
}

}  // namespace rkllm_mcp
