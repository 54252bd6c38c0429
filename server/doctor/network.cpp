// What fetching models and verifying certificates needs: the right time, and names that have addresses.
#include "doctor/doctor.hpp"

#include <array>

namespace rkllm_mcp::doctor {
namespace {

// Boards without a battery start in 1970, or when their image was made. This program is younger than that.
constexpr std::chrono::sys_days kNoEarlierThan{std::chrono::year{2025} / 6 / 1};

Finding examine_clock(const Machine& machine) {
  constexpr const char* kSubject = "clock";
  const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(machine.now)};
  const std::string text = std::to_string(static_cast<int>(day.year())) + "-" +
                           std::to_string(static_cast<unsigned>(day.month())) + "-" +
                           std::to_string(static_cast<unsigned>(day.day()));
  if (machine.now < kNoEarlierThan) {
    return {kSubject, Level::kProblem, "it is set to " + text + ": certificates of servers cannot be verified",
            "sudo timedatectl set-ntp true"};
  }
  return {kSubject, Level::kOk, text};
}

Finding examine_names(const Machine& machine) {
  constexpr const char* kSubject = "name resolution";
  constexpr const char* kHost = "huggingface.co";
  if (text_of(machine, "etc/resolv.conf").find("nameserver") == std::string::npos) {
    return {kSubject, Level::kWarning,
            "no name server in /etc/resolv.conf: models cannot be fetched, nor the web searched",
            "resolvectl status; nmcli device show | grep DNS"};
  }
  if (machine.resolve && !machine.resolve(kHost)) {
    return {kSubject, Level::kWarning, std::string(kHost) + " has no address here: is there a network?",
            "getent hosts " + std::string(kHost) + "; ip route"};
  }
  return {kSubject, Level::kOk, "there is a name server"};
}

}  // namespace

Findings examine_network(const Machine& machine) { return {examine_clock(machine), examine_names(machine)}; }

}  // namespace rkllm_mcp::doctor
