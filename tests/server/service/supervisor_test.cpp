#include "service/supervisor.hpp"

#include "simulation/sim_bench.hpp"
#include "support/catch.hpp"
#include "support/environment.hpp"
#include "support/process.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

using Datagrams = std::vector<std::string>;

// A service manager's socket, at a path or with an abstract name (@NAME).
class ManagerSocket {
 public:
  explicit ManagerSocket(const std::string& name) : descriptor_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(name.size() < sizeof address.sun_path);
    name.copy(address.sun_path, name.size());
    if (name.front() == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    REQUIRE(::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), size) == 0);
  }
  ManagerSocket(const ManagerSocket&) = delete;
  ManagerSocket& operator=(const ManagerSocket&) = delete;
  ~ManagerSocket() { ::close(descriptor_); }

  // All that has come since the last time.
  Datagrams take() const {
    Datagrams all;
    std::array<char, 4096> bytes{};
    for (;;) {
      const auto size = ::recv(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (size < 0) return all;
      all.emplace_back(bytes.data(), static_cast<std::size_t>(size));
    }
  }

 private:
  int descriptor_;
};

struct Manager {
  TemporaryDirectory folder;
  std::string path = folder / "notify";
  ManagerSocket socket{path};
  Environment named{"NOTIFY_SOCKET", path};
};

const Datagrams kNothing;
const Datagrams kAlive{"WATCHDOG=1\n"};

}  // namespace

TEST_CASE("a service manager is told when the server is ready, reads its settings again, and ends") {
  const Manager manager;
  Supervisor supervisor = Supervisor::take_from_environment();
  supervisor.ready("Serving on 8080, h\xC3\xA9");
  CHECK(manager.socket.take() == Datagrams{"READY=1\nSTATUS=Serving on 8080, h\xC3\xA9\n"});
  supervisor.reloading();
  const Datagrams reloading = manager.socket.take();
  REQUIRE(reloading.size() == 1);
  CHECK_THAT(reloading[0], Catch::Matchers::Matches("RELOADING=1\nMONOTONIC_USEC=[1-9][0-9]*\nSTATUS=.*\n"));
  supervisor.stopping();
  CHECK(manager.socket.take() == Datagrams{"STOPPING=1\nSTATUS=Ending\n"});
}

TEST_CASE("a socket with an abstract name is told as well") {
  const std::string name = "@rkllm-mcp-test-" + std::to_string(::getpid());
  const ManagerSocket socket(name);
  const Environment named("NOTIFY_SOCKET", name);
  Supervisor::take_from_environment().ready("here");
  CHECK(socket.take() == Datagrams{"READY=1\nSTATUS=here\n"});
}

TEST_CASE("no child finds the variables that are meant for this process") {
  const Manager manager;
  const Environment usec("WATCHDOG_USEC", "1000000");
  const Environment process("WATCHDOG_PID", std::to_string(::getpid()));
  Supervisor::take_from_environment();
  CHECK(std::getenv("NOTIFY_SOCKET") == nullptr);
  CHECK(std::getenv("WATCHDOG_USEC") == nullptr);
  CHECK(std::getenv("WATCHDOG_PID") == nullptr);
}

TEST_CASE("nothing fails where no service manager is, where it has gone, or where its socket cannot be") {
  const std::string name = GENERATE(std::string(), std::string("/nowhere/notify"), std::string(107, 'x'),
                                    std::string(108, 'x'), std::string(5000, 'x'));
  const Environment named("NOTIFY_SOCKET", name);
  const Environment usec("WATCHDOG_USEC", "1000000");
  simulation::SimBench bench;
  Supervisor supervisor = Supervisor::take_from_environment();
  CHECK_NOTHROW(supervisor.ready("x"));
  CHECK_NOTHROW(supervisor.reloading());
  CHECK_NOTHROW(supervisor.watch(bench.loop()));
  CHECK_NOTHROW(bench.pass(seconds(1)));
  CHECK_NOTHROW(supervisor.stopping());
}

TEST_CASE("the loop is said to be alive at once, and then twice as often as was asked for, until that is to end") {
  const Manager manager;
  const Environment usec("WATCHDOG_USEC", "3000000");
  simulation::SimBench bench;
  Supervisor supervisor = Supervisor::take_from_environment();
  CHECK(manager.socket.take() == kNothing);
  supervisor.watch(bench.loop());
  CHECK(manager.socket.take() == kAlive);
  bench.pass(milliseconds(1499));
  CHECK(manager.socket.take() == kNothing);
  bench.pass(milliseconds(1));
  CHECK(manager.socket.take() == kAlive);
  bench.pass(milliseconds(1500));
  CHECK(manager.socket.take() == kAlive);
  supervisor.stop_watching();
  bench.pass(seconds(60));
  CHECK(manager.socket.take() == kNothing);
}

TEST_CASE("a watchdog is told of if it is meant for this process, or for none in particular") {
  const std::string own = std::to_string(::getpid());
  for (const auto& [process, is_ours] : {std::pair{own, true}, std::pair{std::string(), true},
                                         std::pair{std::string("1"), false}, std::pair{own + "x", false}}) {
    INFO(process);
    const Manager manager;
    const Environment usec("WATCHDOG_USEC", "1000000");
    const Environment meant("WATCHDOG_PID", process);
    simulation::SimBench bench;
    Supervisor supervisor = Supervisor::take_from_environment();
    supervisor.watch(bench.loop());
    CHECK(manager.socket.take() == (is_ours ? kAlive : kNothing));
  }
}

TEST_CASE("nobody says that the loop is alive if the service manager has not asked for it, or in no number") {
  for (const char* usec : {"", "0", "soon", "-1", "1s"}) {
    INFO(usec);
    const Manager manager;
    const Environment asked("WATCHDOG_USEC", usec);
    simulation::SimBench bench;
    Supervisor supervisor = Supervisor::take_from_environment();
    supervisor.watch(bench.loop());
    bench.pass(seconds(60));
    CHECK(manager.socket.take() == kNothing);
  }
}

}  // namespace rkllm_mcp::test
