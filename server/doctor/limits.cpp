// How many files, and with them connections, the server may have open.
#include "doctor/doctor.hpp"

#include <charconv>
#include <cstdint>
#include <limits>

namespace rkllm_mcp::doctor {
namespace {

constexpr const char* kFiles = "open files";
constexpr std::uint64_t kBesides = 256;  // the log, the store of conversations, workers

// Of "Max open files            1024                 524288               files": the first number.
std::uint64_t soft_limit(const std::string& limits) {
  const auto at = limits.find("Max open files");
  if (at == std::string::npos) return 0;
  const auto value = limits.find_first_not_of(' ', at + std::string_view("Max open files").size());
  if (value == std::string::npos) return 0;
  if (limits.compare(value, 9, "unlimited") == 0) return std::numeric_limits<std::uint64_t>::max();
  std::uint64_t number = 0;
  std::from_chars(limits.data() + value, limits.data() + limits.size(), number);
  return number;
}

}  // namespace

Findings examine_limits(const Machine& machine) {
  const std::uint64_t allowed = soft_limit(text_of(machine, "proc/self/limits"));
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

}  // namespace rkllm_mcp::doctor
