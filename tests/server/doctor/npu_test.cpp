// The board and its NPU: driver, device nodes, who may open them, memory translation.
#include "doctor/doctor.hpp"

#include "server/doctor/made_board.hpp"
#include "support/catch.hpp"

#include <filesystem>

#include <unistd.h>

namespace rkllm_mcp::test {

TEST_CASE("a machine that is no Rockchip board is told of the simulator") {
  Board board;
  board.remove("proc/device-tree");
  board.remove("sys/class/devfreq");
  const auto fault = only_fault(doctor::examine_npu(board.machine));
  CHECK(fault.level == doctor::Level::kWarning);
  CHECK_THAT(fault.cure, has_text("--simulator"));
}

TEST_CASE("a kernel without NPU driver is a problem") {
  Board board;
  board.remove("sys/class/devfreq");
  const auto fault = only_fault(doctor::examine_npu(board.machine));
  CHECK(fault.subject == "npu driver");
  CHECK(fault.level == doctor::Level::kProblem);
}

TEST_CASE("an NPU driver before 0.9.7 is a problem, 0.9.7 is none, and 0.10.0 is newer") {
  Board board;
  board.put("sys/kernel/debug/rknpu/version", "RKNPU driver: v0.9.6\n");
  CHECK(only_fault(doctor::examine_npu(board.machine)).level == doctor::Level::kProblem);
  board.put("sys/kernel/debug/rknpu/version", "RKNPU driver: v0.9.7\n");
  CHECK(faults(doctor::examine_npu(board.machine)).empty());
  board.put("sys/kernel/debug/rknpu/version", "RKNPU driver: v0.10.0\n");
  CHECK(faults(doctor::examine_npu(board.machine)).empty());
}

TEST_CASE("a driver version that only root may read comes with the command that lets everybody read it") {
  Board board;
  board.remove("sys/kernel/debug/rknpu/version");
  const auto fault = only_fault(doctor::examine_npu(board.machine));
  CHECK(fault.level == doctor::Level::kWarning);
  CHECK_THAT(fault.cure, has_text("sudo mount --bind /sys/kernel/debug/rknpu /run/rkllm-mcp/rknpu"));
}

TEST_CASE("a driver version that is no number is a warning that says it") {
  Board board;
  board.put("sys/kernel/debug/rknpu/version", "RKNPU driver: vendor-build\n");
  const auto fault = only_fault(doctor::examine_npu(board.machine));
  CHECK(fault.subject == "npu driver");
  CHECK(fault.level == doctor::Level::kWarning);
  CHECK_THAT(fault.text, has_text("vendor-build; whether that is 0.9.7 or newer cannot be told"));
}

TEST_CASE("device nodes that are missing are a problem") {
  Board board;
  board.remove("dev/dri");
  const auto fault = only_fault(doctor::examine_npu(board.machine));
  CHECK(fault.subject == "device nodes");
  CHECK(fault.level == doctor::Level::kProblem);
}

TEST_CASE("a device node that this user may not open names it, and the cure joins the group or opens the node") {
  Board board;
  std::filesystem::permissions(board.path("dev/dri/renderD129"), std::filesystem::perms(0600));
  auto fault = only_fault(doctor::examine_npu(board.machine));
  CHECK(fault.level == doctor::Level::kProblem);
  CHECK_THAT(fault.text, has_text("/dev/dri/renderD129"));
  CHECK(fault.cure == "sudo chmod a+rw /dev/dri/renderD129");
  if (::chown(board.path("dev/dri/renderD129").c_str(), 0, kTheirGroup) != 0) return;  // only root may
  std::filesystem::permissions(board.path("dev/dri/renderD129"), std::filesystem::perms(0660));
  fault = only_fault(doctor::examine_npu(board.machine));
  CHECK(fault.cure == "sudo usermod -aG render $USER   # then log in again");
  board.machine.identity.groups = {kTheirGroup};
  CHECK(faults(doctor::examine_npu(board.machine)).empty());
}

TEST_CASE("an NPU without IOMMU is a problem") {
  Board board;
  board.remove("sys/bus/platform/devices/fdab0000.npu/iommu_group");
  const auto fault = only_fault(doctor::examine_npu(board.machine));
  CHECK(fault.subject == "iommu");
  CHECK(fault.level == doctor::Level::kProblem);
}

TEST_CASE("an IOMMU that cannot be told is a warning, and the cure looks for it in the kernel's log") {
  Board board;
  board.remove("sys/bus/platform/devices");
  const auto fault = only_fault(doctor::examine_npu(board.machine));
  CHECK(fault.subject == "iommu");
  CHECK(fault.level == doctor::Level::kWarning);
  CHECK_THAT(fault.text, has_text("cannot be told"));
  CHECK_THAT(fault.cure, has_text("dmesg"));
}

}  // namespace rkllm_mcp::test
