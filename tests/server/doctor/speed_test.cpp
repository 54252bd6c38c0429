// What slows the machine down.
#include "doctor/doctor.hpp"

#include "server/doctor/made_board.hpp"
#include "support/catch.hpp"

namespace rkllm_mcp::test {

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
