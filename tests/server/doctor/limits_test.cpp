// How many files the server may have open, and what slows the machine down.
#include "doctor/doctor.hpp"

#include "server/doctor/made_board.hpp"
#include "support/catch.hpp"

#include <string>

namespace rkllm_mcp::test {

TEST_CASE("fewer open files than the connections may need is a warning") {
  Board board;
  board.put("proc/self/limits", "Max open files            1024                 64                   files\n");
  const auto fault = only_fault(doctor::examine_limits(board.machine));
  CHECK(fault.level == doctor::Level::kWarning);
  CHECK_THAT(fault.cure, has_text("ulimit -n"));
}

TEST_CASE("a kernel that does not say how many files may be open is a warning") {
  Board board;
  for (const char* const limits : {"", "Limit Soft Hard Units\nMax processes 100 100 processes\n", "Max open files"}) {
    INFO(limits);
    board.put("proc/self/limits", limits);
    const auto fault = only_fault(doctor::examine_limits(board.machine));
    CHECK(fault.level == doctor::Level::kWarning);
    CHECK_THAT(fault.text, has_text("/proc/self/limits does not say how many"));
  }
}

TEST_CASE("as many open files as the connections of all transports may need are enough, and one less is not") {
  Board board;
  Settings& settings = board.machine.settings;
  settings.limits.max_connections = 100;
  settings.tcp.enabled = settings.http.enabled = settings.ws.enabled = true;
  settings.unix_socket.path.clear();
  const auto level_with = [&board](const std::string& files) {
    board.put("proc/self/limits", "Max open files            16      " + files + "              files\n");
    return doctor::examine_limits(board.machine).at(0).level;
  };
  CHECK(level_with("556") == doctor::Level::kOk);  // 256 are for all else
  CHECK(level_with("555") == doctor::Level::kWarning);
  CHECK(level_with("unlimited") == doctor::Level::kOk);
  settings.unix_socket.path = "/run/x";
  CHECK(level_with("655") == doctor::Level::kWarning);
  settings.ws.enabled = false;
  CHECK(level_with("556") == doctor::Level::kOk);
}

TEST_CASE("a governor that saves energy is a warning") {
  Board board;
  board.put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  const auto fault = only_fault(doctor::examine_speed(board.machine));
  CHECK(fault.level == doctor::Level::kWarning);
  CHECK_THAT(fault.text, has_text("powersave"));
  CHECK_THAT(fault.cure, has_text("performance"));
}

TEST_CASE("governors of several processors are named once each, and where there are none nothing is wrong") {
  Board board;
  board.put("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "schedutil\n");
  board.put("sys/devices/system/cpu/cpu4/cpufreq/scaling_governor", "schedutil\n");
  CHECK_THAT(only_fault(doctor::examine_speed(board.machine)).text, has_text("performance, schedutil; "));
  board.put("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n");
  board.put("sys/devices/system/cpu/cpu4/cpufreq/scaling_governor", "performance");
  CHECK(faults(doctor::examine_speed(board.machine)).empty());
  board.remove("sys/devices/system/cpu");
  const auto none = doctor::examine_speed(board.machine);
  REQUIRE(none.size() == 1);
  CHECK(none[0].level == doctor::Level::kOk);
}

}  // namespace rkllm_mcp::test
