// How many files the server may have open.
#include "doctor/doctor.hpp"

#include "server/doctor/made_board.hpp"
#include "support/catch.hpp"

namespace rkllm_mcp::test {

TEST_CASE("fewer open files than the connections may need is a warning") {
  Board board;
  board.put("proc/self/limits", "Max open files            64                   64                   files\n");
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

}  // namespace rkllm_mcp::test
