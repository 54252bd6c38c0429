// The ports that the settings name: free, or whose they are.
#include "doctor/doctor.hpp"
#include "watch/board.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace rkllm_mcp::doctor {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPorts = "ports";

struct OpenPort {
  std::string user;    // its number
  std::string socket;  // its inode
};

// `table` is /proc/net/tcp or its like: "0: 0100007F:1F90 00000000:0000 0A ... uid timeout inode".
std::optional<OpenPort> find_port(const std::string& table, std::uint16_t port, std::string_view state) {
  std::istringstream lines(table);
  std::string line;
  std::getline(lines, line);  // the header
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::array<std::string, 10> word;
    for (std::string& each : word) words >> each;
    const auto colon = word[1].rfind(':');
    if (colon == std::string::npos || word[3] != state) continue;
    std::uint16_t number = 0;
    std::from_chars(word[1].data() + colon + 1, word[1].data() + word[1].size(), number, 16);
    if (number == port) return OpenPort{word[7], word[9]};
  }
  return std::nullopt;
}

// The numbers of the processes of the machine.
std::vector<std::string> processes_of(const Machine& machine) {
  std::vector<std::string> numbers;
  for (const fs::path& process : entries_of(machine.root / "proc")) {
    const std::string number = process.filename().string();
    if (number.find_first_not_of("0123456789") == std::string::npos) numbers.push_back(number);
  }
  return numbers;
}

std::string name_of(const Machine& machine, const std::string& process) {
  const std::string name = text_of(machine, "proc/" + process + "/comm");
  return name.substr(0, name.find('\n'));
}

// "rkllm-mcp, process 77"; empty if it is a process that this user may not look into.
std::string program_with(const Machine& machine, const std::string& socket) {
  const std::string wanted = "socket:[" + socket + "]";
  for (const std::string& process : processes_of(machine)) {
    for (const fs::path& file : entries_of(machine.root / "proc" / process / "fd")) {
      std::error_code error;
      if (fs::read_symlink(file, error) == wanted) return name_of(machine, process) + ", process " + process;
    }
  }
  return {};
}

// Words about another process of our own name that this user runs, and that may well have the port; empty if there is
// none. Everybody may know that much of processes that are another user's.
std::string server_of(const Machine& machine, const std::string& user) {
  for (const std::string& process : processes_of(machine)) {
    if (name_of(machine, process) != "rkllm-mcp" || process == std::to_string(::getpid())) continue;
    const std::string status = text_of(machine, "proc/" + process + "/status");
    const auto at = status.find("\nUid:\t");
    if (at == std::string::npos || !status.substr(at + 6).starts_with(user + "\t")) continue;
    return "rkllm-mcp, most likely: process " + process + " of the user who has the port";
  }
  return {};
}

struct Wanted {
  std::string setting;
  bool enabled;
  std::uint16_t port;
  bool is_udp;
};

int other_port(std::uint16_t port) {
  constexpr int kAway = 1000;
  return port + kAway <= 65535 ? port + kAway : port - kAway;
}

// The first that any user may open.
int first_of_all_users(const Machine& machine) {
  const std::string text = text_of(machine, "proc/sys/net/ipv4/ip_unprivileged_port_start");
  int port = 1024;
  std::from_chars(text.data(), text.data() + text.size(), port);
  return port;
}

void examine_port(const Machine& machine, const Wanted& wanted, Findings& findings) {
  const std::string number = std::to_string(wanted.port);
  const std::array<const char*, 2> tables =
      wanted.is_udp ? std::array{"proc/net/udp", "proc/net/udp6"} : std::array{"proc/net/tcp", "proc/net/tcp6"};
  for (const char* const table : tables) {
    const auto found = find_port(text_of(machine, table), wanted.port, wanted.is_udp ? "07" : "0A");
    if (!found) continue;
    std::string program = program_with(machine, found->socket);
    if (program.empty()) program = server_of(machine, found->user);
    if (program.starts_with("rkllm-mcp")) {
      findings.push_back({kPorts, Level::kOk, wanted.setting + " " + number + ": the server runs (" + program + ")"});
      return;
    }
    findings.push_back(
        {kPorts, Level::kProblem,
         wanted.setting + " " + number + " is taken by " + (program.empty() ? "another user's program" : program),
         "rkllm-mcp serve --set " + wanted.setting + "=" + std::to_string(other_port(wanted.port)) +
             "   # another port" +
             (program.empty() ? "; who has this one: sudo ss -lnp 'sport = :" + number + "'" : "")});
    return;
  }
  if (machine.identity.user != 0 && wanted.port < first_of_all_users(machine)) {
    findings.push_back(
        {kPorts, Level::kWarning,
         wanted.setting + " " + number + " may be opened by root only, or as a socket of systemd",
         "rkllm-mcp serve --set " + wanted.setting + "=" + std::to_string(wanted.port + 8000) + "   # another port"});
    return;
  }
  findings.push_back({kPorts, Level::kOk, wanted.setting + " " + number + " is free"});
}

}  // namespace

Findings examine_ports(const Machine& machine) {
  const Settings& settings = machine.settings;
  const std::array wanted{Wanted{"tcp.port", settings.tcp.enabled, settings.tcp.port, false},
                          Wanted{"udp.port", settings.udp.enabled, settings.udp.port, true},
                          Wanted{"http.port", settings.http.enabled, settings.http.port, false},
                          Wanted{"ws.port", settings.ws.enabled, settings.ws.port, false},
                          Wanted{"services.port", settings.services.enabled, settings.services.port, false}};
  Findings findings;
  for (const Wanted& each : wanted) {
    if (each.enabled && each.port != 0) examine_port(machine, each, findings);
  }
  if (findings.empty()) findings.push_back({kPorts, Level::kOk, "none is fixed by the settings"});
  return findings;
}

}  // namespace rkllm_mcp::doctor
