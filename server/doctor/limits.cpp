// What the machine holds the server back by: how many files, and with them connections, it may have open, and governors
// that save energy.
#include "doctor/doctor.hpp"

#include "text/ascii.hpp"
#include "watch/board.hpp"

#include <charconv>
#include <cstdint>
#include <limits>
#include <set>

namespace rkllm_mcp::doctor {
namespace {

constexpr const char* kFiles = "open files";
constexpr std::uint64_t kBesides = 256;  // the log, the store of conversations, workers

// Of "Max open files            1024                 524288               files": the second number, to which a server
// raises the first one when it starts.
std::uint64_t hard_limit(const std::string& limits) {
  const auto at = limits.find("Max open files");
  if (at == std::string::npos) return 0;
  const auto first = limits.find_first_not_of(' ', at + std::string_view("Max open files").size());
  const auto value = limits.find_first_not_of(' ', limits.find(' ', first));
  if (value == std::string::npos) return 0;
  if (limits.compare(value, 9, "unlimited") == 0) return std::numeric_limits<std::uint64_t>::max();
  std::uint64_t number = 0;
  std::from_chars(limits.data() + value, limits.data() + limits.size(), number);
  return number;
}

}  // namespace

Findings examine_limits(const Machine& machine) {
  const std::uint64_t allowed = hard_limit(text_of(machine, "proc/self/limits"));
  const Settings& settings = machine.settings;
  const std::uint64_t transports = std::uint64_t{settings.tcp.enabled} + std::uint64_t{settings.http.enabled} +
                                   std::uint64_t{settings.ws.enabled} +
                                   std::uint64_t{!settings.unix_socket.path.empty()};
  const std::uint64_t needed = transports * static_cast<std::uint64_t>(settings.limits.max_connections) + kBesides;
  const std::string cure =
      "ulimit -n " + std::to_string(needed) + "   # before the start; of the service: LimitNOFILE=";
  if (allowed == 0) return {{kFiles, Level::kWarning, "/proc/self/limits does not say how many", cure}};
  if (allowed >= needed) return {{kFiles, Level::kOk, std::to_string(allowed)}};
  return {{kFiles, Level::kWarning,
           std::to_string(allowed) + "; limits.max_connections on all transports may need " + std::to_string(needed),
           cure}};
}

namespace {

namespace fs = std::filesystem;

constexpr const char* kGovernor = "cpu governor";

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
