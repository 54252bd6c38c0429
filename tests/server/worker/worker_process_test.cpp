// A worker's process: what it prints, the sockets that it is handed, and how its end comes and is told.
#include "worker/worker_process.hpp"

#include "process/descriptor.hpp"
#include "server/worker/worker_commands.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/paths.hpp"

#include <sys/socket.h>
#include <sys/types.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

using Lines = std::vector<std::string>;

// A worker, and all lines that it prints.
struct Watched {
  explicit Watched(const ChildProcess::Command& command)
      : process(
            std::in_place, command, [this](std::string_view line) { printed.add(line); }, kWorkerPatience) {}
  explicit Watched(const std::string& script) : Watched(shell(script)) {}

  WorkerProcess::End end() {
    const auto end = process->wait_for_end(kWorkerPatience);
    REQUIRE(end);
    return *end;
  }

  Gathered printed;
  std::optional<WorkerProcess> process;
};

constexpr const char* kDeafToItsControlSocket = "echo ready; exec sleep 1000";

bool is_there(pid_t process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

bool is_closed_over_there(const Descriptor& socket) {
  char byte = 0;
  return ::recv(socket.number(), &byte, 1, 0) == 0;
}

std::string said(const WorkerProcess::End& end) {
  return std::to_string(end.signal) + "/" + std::to_string(end.exit_code);
}

}  // namespace

TEST_CASE("all that a worker has printed is there before its end is told, also a line that it has not ended") {
  Watched watched("for n in 1 2 3; do echo out $n; echo E rkllm: $n >&2; done; printf 'E last'; exit 7");
  Lines at_the_end;
  std::promise<void> told;
  watched.process->when_ended(&watched, [&](const WorkerProcess::End&) {
    at_the_end = watched.printed.all();
    told.set_value();
  });
  told.get_future().wait();
  CHECK(said(watched.end()) == "0/7");
  CHECK(at_the_end == Lines{"out 1", "E rkllm: 1", "out 2", "E rkllm: 2", "out 3", "E rkllm: 3", "E last"});
  CHECK(watched.process->log().line_count() == 7);
  CHECK(watched.process->log().errors_since(4) == Lines{"E rkllm: 3", "E last"});
}

TEST_CASE("the last line of a worker is there also where a process that it has started keeps its output open") {
  Watched watched("sleep 10 & printf 'E last'; exit 7");
  CHECK(said(watched.end()) == "0/7");
  CHECK(watched.printed.all() == Lines{"E last"});
}

TEST_CASE("more than a pipe holds is read while a worker prints it") {
  Watched watched("i=0; while [ $i -lt 40 ]; do printf '%04000d\\n' $i; i=$((i + 1)); done");
  CHECK(said(watched.end()) == "0/0");
  CHECK(watched.process->log().line_count() == 40);
  CHECK(watched.printed.all().back() == std::string(3998, '0') + "39");
}

TEST_CASE("a worker's end is not told before it comes, and is told to all who ask after it") {
  Watched watched(silent_worker());
  CHECK(is_there(watched.process->id()));
  CHECK_FALSE(watched.process->ended());
  CHECK_FALSE(watched.process->wait_for_end(std::chrono::milliseconds(0)));
  auto waiting = std::async(std::launch::async, [&] { return watched.process->wait_for_end(kWorkerPatience); });
  watched.process->kill();
  const auto waited = waiting.get();
  REQUIRE(waited);
  CHECK(said(*waited) == "9/0");
  CHECK(said(watched.end()) == "9/0");
  REQUIRE(watched.process->ended());
  CHECK_FALSE(is_there(watched.process->id()));
  watched.process->kill();  // another process may have its number by now
  watched.process->end(std::chrono::milliseconds(0));
  CHECK(said(watched.end()) == "9/0");
}

TEST_CASE("a worker that is asked to end has the time to do so") {
  Watched watched("cat <&3 >/dev/null; echo last words; exit 4");
  watched.process->end(kWorkerPatience);
  REQUIRE(watched.process->ended());
  CHECK(said(*watched.process->ended()) == "0/4");
  CHECK(watched.printed.all() == Lines{"last words"});
}

TEST_CASE("a worker that does not end when it is asked to is killed") {
  Watched watched(kDeafToItsControlSocket);
  REQUIRE(watched.printed.has("ready"));
  watched.process->end(std::chrono::milliseconds(1));
  CHECK(said(watched.end()) == "9/0");
}

TEST_CASE("a worker is killed by whoever destroys it, who waits until it is gone, and nothing is told after that") {
  auto watched = std::make_unique<Watched>(kDeafToItsControlSocket);
  REQUIRE(watched->printed.has("ready"));
  Gathered told;
  watched->process->when_ended(&told, [&told](const WorkerProcess::End& end) { told.add(said(end)); });
  const pid_t id = watched->process->id();
  watched->process.reset();
  CHECK_FALSE(is_there(id));
  CHECK(told.all() == Lines{"9/0"});
}

TEST_CASE("the end of a worker is noticed although a process that it has left behind holds its log") {
  Watched watched("sleep 1000 & echo $!; exit 3");
  const WorkerProcess::End end = watched.end();
  CHECK(said(end) == "0/3");
  const std::string left_behind = watched.printed.first();
  REQUIRE_FALSE(left_behind.empty());
  CHECK(is_there(std::stoi(left_behind)));
  ::kill(std::stoi(left_behind), SIGKILL);
}

TEST_CASE("a worker that is stopped is killed, also one that has closed its outputs") {
  const std::string before = GENERATE("", "exec 2>/dev/null; ");
  WorkerProcess process(
      shell(before + "exec cat <&3 >/dev/null"), [](std::string_view) {}, std::chrono::milliseconds(0));
  if (!before.empty()) REQUIRE(eventually([&] { return process.log().read() == ProcessOutput::Read::kEnd; }));
  ::kill(process.id(), SIGSTOP);
  const auto end = process.wait_for_end(kWorkerPatience);
  REQUIRE(end);
  CHECK(end->signal == SIGKILL);
}

TEST_CASE("a place of a model is two sockets to the worker, in their order, with its id") {
  // This worker writes something into the first of them.
  Watched watched(ChildProcess::Command{built_program("nonsense_worker"), {}});
  const DescriptorPair one = watched.process->open("llm-1");
  const DescriptorPair two = watched.process->open("llm-2");
  char byte = 0;
  CHECK(::recv(one.first.number(), &byte, 1, 0) == 1);
  CHECK(::recv(two.first.number(), &byte, 1, 0) == 1);
  CHECK(::recv(one.second.number(), &byte, 1, MSG_DONTWAIT) < 0);  // open, and silent
  watched.process->end(kWorkerPatience);
  CHECK(is_closed_over_there(one.second));
  CHECK(is_closed_over_there(two.second));
}

TEST_CASE("places in a worker that is gone, or goes without having taken them, are closed at the other end") {
  Watched watched(kDeafToItsControlSocket);
  const DescriptorPair never_taken = watched.process->open("llm-1");
  watched.process->kill();
  watched.end();
  CHECK(is_closed_over_there(never_taken.first));
  CHECK(is_closed_over_there(never_taken.second));
  const DescriptorPair too_late = watched.process->open("llm-2");
  CHECK(is_closed_over_there(too_late.first));
  CHECK(is_closed_over_there(too_late.second));
}

TEST_CASE("a place in a worker that was asked to end is closed at the other end") {
  Watched watched("cat <&3 >/dev/null");
  watched.process->end(kWorkerPatience);
  const DescriptorPair too_late = watched.process->open("llm-1");
  CHECK(is_closed_over_there(too_late.first));
  CHECK(is_closed_over_there(too_late.second));
}

TEST_CASE("those who listen for the end hear of it once, in the order in which they came, and not who was forgotten") {
  Watched watched(silent_worker());
  Gathered told;
  const auto tells = [&told](const std::string& who) {
    return [&told, who](const WorkerProcess::End& end) { told.add(who + " " + said(end)); };
  };
  const int first = 0;
  const int second = 0;
  const int third = 0;
  watched.process->when_ended(&first, tells("first"));
  watched.process->when_ended(&second, tells("second"));
  watched.process->when_ended(&third, tells("third"));
  watched.process->when_ended(&second, tells("second again"));
  watched.process->when_ended(&first, tells("first again"));
  watched.process->forget(&second);
  watched.process->forget(&told);  // who has never come
  watched.process->kill();
  CHECK(told.has("first again 9/0"));
  watched.process.reset();
  CHECK(told.all() == Lines{"first 9/0", "third 9/0", "first again 9/0"});
}

TEST_CASE("who comes after a worker's end hears of it at once, on its own thread") {
  Watched watched("exit 5");
  watched.end();
  std::string heard;
  watched.process->when_ended(&heard, [&heard](const WorkerProcess::End& end) { heard += said(end); });
  CHECK(heard == "0/5");
  watched.process->forget(&heard);
  watched.process.reset();
  CHECK(heard == "0/5");
}

TEST_CASE("who is forgotten while it is called has been called when it is forgotten") {
  Watched watched(silent_worker());
  std::promise<void> called;
  std::promise<void> goes_on;
  bool has_returned = false;  // no lock: who is forgotten is not called any more
  watched.process->when_ended(&called, [&](const WorkerProcess::End&) {
    called.set_value();
    goes_on.get_future().wait();
    has_returned = true;
  });
  watched.process->kill();
  called.get_future().wait();
  std::promise<void> is_about_to;
  auto forgetting = std::async(std::launch::async, [&] {
    is_about_to.set_value();
    watched.process->forget(&called);
    return has_returned;
  });
  is_about_to.get_future().wait();
  goes_on.set_value();
  CHECK(forgetting.get());
}

TEST_CASE("what cannot be started is no worker") {
  CHECK_THROWS_AS(WorkerProcess(
                      {"/no/such/program", {}}, [](std::string_view) {}, kWorkerPatience),
                  std::system_error);
}
