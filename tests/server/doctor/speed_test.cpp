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

}  // namespace rkllm_mcp::test
