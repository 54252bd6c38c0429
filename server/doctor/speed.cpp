// What slows the machine down: governors that save energy.
#include "doctor/doctor.hpp"
#include "watch/board.hpp"

#include <set>

namespace rkllm_mcp::doctor {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGovernor = "cpu governor";

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

Findings examine_speed(const Machine& machine) {
  std::set<std::string> governors;
  for (const fs::path& cpu : entries_of(machine.root / "sys/devices/system/cpu")) {
    const std::string path = (cpu / "cpufreq/scaling_governor").lexically_relative(machine.root).string();
    if (const std::string name = first_line(text_of(machine, path)); !name.empty()) governors.insert(name);
  }
  if (governors.empty())
    return {{kGovernor, Level::kOk, "none: the clock of the processors is not the kernel's to set"}};
  if (governors == std::set<std::string>{"performance"}) return {{kGovernor, Level::kOk, "performance"}};
  std::string names;
  for (const std::string& name : governors) names += (names.empty() ? "" : ", ") + name;
  return {{kGovernor, Level::kWarning, names + "; answers come faster with performance",
           "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"}};
}

}  // namespace rkllm_mcp::doctor
