// The board and its NPU: driver, device nodes, who may open them, memory translation.
#include "doctor/doctor.hpp"
#include "text/release.hpp"
#include "watch/board.hpp"

#include <sys/stat.h>

#include <algorithm>

namespace rkllm_mcp::doctor {
namespace {

namespace fs = std::filesystem;

// The library warns below 0.9.7 and then fails in the middle of a run; Rockchip asks for 0.9.8.
constexpr Release kDriverNeeded{0, 9, 7};

void examine_driver(const Machine& machine, Findings& findings) {
  constexpr const char* kSubject = "npu driver";
  if (!has_npu(machine.root)) {
    findings.push_back(
        {kSubject, Level::kProblem, "the kernel has no NPU driver (RKNPU)",
         "uname -r   # install the kernel of the board's vendor: mainline kernels have no RKNPU driver"});
    return;
  }
  const Json version = board_description(machine.root)["npu_driver"];
  if (!version.is_string()) {
    findings.push_back({kSubject, Level::kWarning, "there, but only root may read its version and load",
                        npu_status(machine.root)["remedy"].get<std::string>() + "   # until the next start"});
    return;
  }
  const auto text = version.get<std::string>();
  const auto release = release_at_start(text);
  if (!release) {
    findings.push_back(
        {kSubject, Level::kWarning, text + "; whether that is 0.9.7 or newer cannot be told",
         "sudo cat /sys/kernel/debug/rknpu/version   # if it is older: sudo apt-get full-upgrade, and reboot"});
    return;
  }
  if (*release < kDriverNeeded) {
    findings.push_back({kSubject, Level::kProblem, text + "; 0.9.7 or newer is needed, 0.9.8 is asked for by Rockchip",
                        "sudo apt-get update && sudo apt-get full-upgrade   # brings a newer kernel; then reboot"});
    return;
  }
  findings.push_back({kSubject, Level::kOk, text});
}

std::string group_name(const Machine& machine, gid_t group) {
  const std::string text = text_of(machine, "etc/group");
  std::string number = std::to_string(group);
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const auto name_end = line.find(':');
    const auto number_at = line.find(':', name_end + 1);
    if (number_at != std::string::npos && line.substr(number_at + 1).starts_with(number + ":")) {
      return line.substr(0, name_end);
    }
    at = end + 1;
  }
  return number;
}

bool may_open(const Identity& identity, const struct stat& node) {
  if (identity.user == 0) return true;
  if (identity.user == node.st_uid) return (node.st_mode & S_IRUSR) != 0 && (node.st_mode & S_IWUSR) != 0;
  const auto& groups = identity.groups;
  if (std::find(groups.begin(), groups.end(), node.st_gid) != groups.end()) {
    return (node.st_mode & S_IRGRP) != 0 && (node.st_mode & S_IWGRP) != 0;
  }
  return (node.st_mode & S_IROTH) != 0 && (node.st_mode & S_IWOTH) != 0;
}

void examine_nodes(const Machine& machine, Findings& findings) {
  constexpr const char* kSubject = "device nodes";
  std::vector<fs::path> nodes;
  for (const fs::path& node : entries_of(machine.root / "dev/dri")) {
    if (node.filename().string().starts_with("renderD")) nodes.push_back(node);
  }
  if (fs::exists(machine.root / "dev/rknpu")) nodes.push_back(machine.root / "dev/rknpu");
  if (nodes.empty()) {
    findings.push_back(
        {kSubject, Level::kProblem, "neither /dev/dri/renderD* nor /dev/rknpu is there",
         "sudo modprobe rknpu   # if they are missing then, too: install the kernel of the board's vendor"});
    return;
  }
  for (const fs::path& node : entries_of(machine.root / "dev/dma_heap")) nodes.push_back(node);
  std::string open_ones;
  for (const fs::path& node : nodes) {
    struct stat status {};
    if (::stat(node.c_str(), &status) != 0) continue;
    const std::string name = "/" + node.lexically_relative(machine.root).string();
    if (may_open(machine.identity, status)) {
      open_ones += (open_ones.empty() ? "" : ", ") + name;
      continue;
    }
    const bool by_group = (status.st_mode & S_IRGRP) != 0 && (status.st_mode & S_IWGRP) != 0 && status.st_gid != 0;
    findings.push_back({kSubject, Level::kProblem, name + " may not be opened by this user",
                        by_group
                            ? "sudo usermod -aG " + group_name(machine, status.st_gid) + " $USER   # then log in again"
                            : "sudo chmod a+rw " + name});
  }
  if (!open_ones.empty()) findings.push_back({kSubject, Level::kOk, open_ones});
}

void examine_iommu(const Machine& machine, Findings& findings) {
  constexpr const char* kSubject = "iommu";
  for (const fs::path& device : entries_of(machine.root / "sys/bus/platform/devices")) {
    if (device.extension() != ".npu") continue;
    std::error_code error;
    if (fs::exists(device / "iommu_group", error)) {
      findings.push_back({kSubject, Level::kOk,
                          "on; one domain has about 4 GB: a second big model needs another "
                          "rkllm_extend_param.base_domain_id"});
    } else {
      findings.push_back({kSubject, Level::kProblem,
                          "off for the NPU: it needs one piece of memory for a whole model, and there is rarely one",
                          "zcat /proc/config.gz | grep ROCKCHIP_IOMMU   # use the kernel of the board's vendor"});
    }
    return;
  }
  findings.push_back({kSubject, Level::kWarning, "cannot be told: the NPU is not in /sys/bus/platform/devices",
                      "sudo dmesg | grep -i -e rknpu -e iommu   # no line: install the kernel of the board's vendor"});
}

}  // namespace

Findings examine_npu(const Machine& machine) {
  const std::string platform = platform_of(machine);
  if (platform.empty() && !has_npu(machine.root)) {
    return {{"board", Level::kWarning, "no Rockchip board: there is no NPU to run models on",
             "rkllm-mcp serve --simulator   # everything but the models' answers works"}};
  }
  Findings findings;
  const Json model = board_description(machine.root)["model"];
  const std::string name = model.is_string() ? model.get<std::string>() : "unknown";
  findings.push_back({"board", Level::kOk, name + ", chip " + (platform.empty() ? "unknown" : platform)});
  examine_driver(machine, findings);
  examine_nodes(machine, findings);
  examine_iommu(machine, findings);
  return findings;
}

}  // namespace rkllm_mcp::doctor
