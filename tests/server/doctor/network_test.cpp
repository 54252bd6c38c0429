// What fetching models takes: the right time, and names that have addresses.
#include "doctor/doctor.hpp"

#include "server/doctor/made_board.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <map>
#include <string>

namespace rkllm_mcp::test {

TEST_CASE("a clock that stands in the past is a problem") {
  Board board;
  board.machine.now = std::chrono::system_clock::time_point{};
  const auto fault = only_fault(doctor::examine_network(board.machine));
  CHECK(fault.subject == "clock");
  CHECK(fault.level == doctor::Level::kProblem);
}

TEST_CASE("no name server, or a name without an address, is a warning") {
  Board board;
  board.machine.resolve = [](const std::string&) { return false; };
  CHECK(only_fault(doctor::examine_network(board.machine)).subject == "name resolution");
  board.machine.resolve = {};
  board.remove("etc/resolv.conf");
  CHECK(only_fault(doctor::examine_network(board.machine)).level == doctor::Level::kWarning);
}

TEST_CASE("the name that is looked up is that of the hub of the settings, or of the proxy on the way to it") {
  Board board;
  std::string asked;
  std::map<std::string, std::string> environment;
  board.machine.resolve = [&asked](const std::string& host) {
    asked = host;
    return false;
  };
  board.machine.variable = [&environment](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  };
  const auto fault = [&] { return only_fault(doctor::examine_network(board.machine)); };
  CHECK_THAT(fault().text, has_text("huggingface.co has no address here"));
  CHECK(asked == "huggingface.co");
  board.machine.settings.runtime.model_hub = "https://hub.example:8443/mirror";
  CHECK_THAT(fault().text, has_text("hub.example has no address here"));
  CHECK(asked == "hub.example");
  CHECK_THAT(fault().cure, has_text("ip route   # no line with default"));

  environment["https_proxy"] = "http://me:secret@proxy.example:3128";
  CHECK_THAT(fault().text,
             has_text("proxy.example, the proxy to hub.example, has no address here") && !has_text("secret"));
  CHECK(asked == "proxy.example");
  CHECK_THAT(fault().cure, has_text("ip route   # no line with default"));
  environment["no_proxy"] = ".example";
  CHECK_THAT(fault().text, has_text("hub.example has no address here"));
  board.machine.resolve = [](const std::string&) { return true; };
  CHECK(faults(doctor::examine_network(board.machine)).empty());

  environment = {{"https_proxy", "socks5://proxy.example"}};
  CHECK_THAT(fault().text, has_text("the proxy of https_proxy: "));
  CHECK_THAT(fault().cure, has_text("env | grep -i proxy"));

  // A proxy by its address, or one whose name is known here, needs no name server.
  board.remove("etc/resolv.conf");
  for (const char* const proxy : {"http://10.0.0.1:3128", "http://[fd00::1]:3128", "http://known.example:3128"}) {
    INFO(proxy);
    environment = {{"https_proxy", proxy}};
    board.machine.resolve = [](const std::string& host) { return host == "known.example"; };
    CHECK(faults(doctor::examine_network(board.machine)).empty());
    environment["no_proxy"] = "hub.example";
    CHECK_THAT(fault().text, has_text("no name server in /etc/resolv.conf"));
  }
}

TEST_CASE("a clock is right from the day on before which this program cannot have been started") {
  Board board;
  using namespace std::chrono;
  const sys_days first{year{2025} / 6 / 1};
  board.machine.now = first;
  CHECK(faults(doctor::examine_network(board.machine)).empty());
  CHECK(doctor::examine_network(board.machine).at(0).text == "2025-6-1");
  board.machine.now = first - seconds(1);
  const auto fault = only_fault(doctor::examine_network(board.machine));
  CHECK_THAT(fault.text, has_text("it is set to 2025-5-31"));
}

}  // namespace rkllm_mcp::test
