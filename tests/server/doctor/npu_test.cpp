// The board and its NPU: driver, device nodes, who may open them, memory translation.
#include "doctor/doctor.hpp"

#include "server/doctor/made_board.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <sys/types.h>
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

TEST_CASE("whoever owns a device node has the owner's rights alone, and who is in its group the group's alone") {
  Board board;
  const std::string node = board.path("dev/dri/renderD129");
  struct stat status {};
  REQUIRE(::stat(node.c_str(), &status) == 0);
  const auto may_open = [&](unsigned mode, uid_t user, const std::vector<gid_t>& groups) {
    std::filesystem::permissions(node, std::filesystem::perms(mode));
    board.machine.identity = {user, groups};
    return faults(doctor::examine_npu(board.machine)).empty();
  };
  // Root may do anything, so where root runs the tests the owner cannot be told apart.
  if (status.st_uid != 0) {
    CHECK(may_open(0600, status.st_uid, {}));
    CHECK_FALSE(may_open(0066, status.st_uid, {status.st_gid}));
  }
  CHECK(may_open(0060, kSomebody, {7, status.st_gid}));
  CHECK_FALSE(may_open(0606, kSomebody, {status.st_gid}));
  CHECK_FALSE(may_open(0640, kSomebody, {status.st_gid}));  // reading is not enough
  CHECK(may_open(0006, kSomebody, {7}));
  CHECK_FALSE(may_open(0660, kSomebody, {7}));
  CHECK(may_open(0, 0, {}));
}

TEST_CASE("all device nodes are looked at, those of memory as well where there is one of the NPU") {
  Board board;
  board.put("dev/dri/card0", "");  // which is for screens
  board.put("dev/dri/renderD128", "");
  board.put("dev/dma_heap/system", "");
  const auto set = [&board](const char* name, unsigned mode) {
    std::filesystem::permissions(board.path(name), std::filesystem::perms(mode));
  };
  set("dev/dri/card0", 0);
  set("dev/dri/renderD128", 0666);
  set("dev/dma_heap/system", 0600);
  CHECK_THAT(only_fault(doctor::examine_npu(board.machine)).text, has_text("/dev/dma_heap/system may not be opened"));
  const auto all = doctor::examine_npu(board.machine);
  CHECK(std::ranges::any_of(all,
                            [](const auto& each) { return each.text == "/dev/dri/renderD128, /dev/dri/renderD129"; }));
  board.remove("dev/dri");
  board.put("dev/rknpu", "");
  set("dev/rknpu", 0666);
  set("dev/dma_heap/system", 0666);
  CHECK(faults(doctor::examine_npu(board.machine)).empty());
  board.remove("dev/rknpu");
  CHECK_THAT(only_fault(doctor::examine_npu(board.machine)).text, has_text("neither /dev/dri/renderD* nor /dev/rknpu"));
}

}  // namespace rkllm_mcp::test
