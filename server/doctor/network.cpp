// What fetching models and verifying certificates needs: the right time, and names that have addresses.
#include "doctor/doctor.hpp"
#include "pull/web_get.hpp"
#include "text/url.hpp"

#include <arpa/inet.h>

#include <string>

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

bool is_address(const std::string& host) {
  in6_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 || ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

Finding examine_names(const Machine& machine) {
  constexpr const char* kSubject = "name resolution";
  // Whom a pull connects to: the proxy, if there is one. Then it is the proxy that has to find the hub.
  std::string host;
  std::string role;
  try {
    const Url hub = parse_url(machine.settings.runtime.model_hub);
    const auto proxy = proxy_for(hub, machine.variable);
    host = proxy ? proxy->host : hub.host;
    if (proxy) role = ", the proxy to " + hub.host + ",";
  } catch (const WebFailed& error) {
    return {kSubject, Level::kWarning, error.what(),
            "env | grep -i proxy   # then set it to http://HOST:PORT, or unset it"};
  }
  const bool is_found = is_address(host) || (machine.resolve && machine.resolve(host));
  if (text_of(machine, "etc/resolv.conf").find("nameserver") == std::string::npos) {
    if (is_found) return {kSubject, Level::kOk, "no name server, and none is needed to find " + host + role};
    return {kSubject, Level::kWarning,
            "no name server in /etc/resolv.conf: models cannot be fetched, nor the web searched",
            "echo nameserver 9.9.9.9 | sudo tee -a /etc/resolv.conf   # or the address of your router"};
  }
  if (machine.resolve && !is_found) {
    return {kSubject, Level::kWarning, host + role + " has no address here: is there a network?",
            "ip route   # no line with default: connect it (nmtui); else ask another name server (/etc/resolv.conf)"};
  }
  return {kSubject, Level::kOk, "there is a name server"};
}

}  // namespace

Findings examine_network(const Machine& machine) { return {examine_clock(machine), examine_names(machine)}; }

}  // namespace rkllm_mcp::doctor
