// Looks at the machine that the server is to run on, and says what would stand in the way of it, each with a command
// that mends it. Only reads: no library is loaded, nothing is changed.
//
// Threads: any one. Blocks for as long as disks and name servers do.
#pragma once

#include "clock.hpp"
#include "settings/settings.hpp"

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::doctor {

enum class Level {
  kOk,
  kWarning,  // it works, but slower, or not for everything
  kProblem,  // something does not work
};

// One line of what `rkllm-mcp doctor` has found.
struct Finding {
  std::string subject;  // "library", "npu driver", ...: what was looked at
  Level level;
  std::string text;  // what was found
  // A command that mends it, to be copied, and a remark on it behind "   # "; empty where all is well. Where a person
  // must decide, the command only shows something, and the remark says what to do then.
  std::string cure{};
};

using Findings = std::vector<Finding>;

// Who is to run the server.
struct Identity {
  uid_t user;
  std::vector<gid_t> groups;

  static Identity own();  // of this process
};

// What is looked at. Tests bring a root folder with files of their own.
struct Machine {
  std::filesystem::path root = "/";  // in front of every path that is read, but for those of the settings
  Settings settings{};
  std::string settings_file{};  // empty: there is none
  Identity identity = Identity::own();
  std::chrono::system_clock::time_point now = time_of_day();
  // Whether a name has an address; empty: it is not asked.
  std::function<bool(const std::string& host)> resolve{};
  std::function<const char*(const char* name)> variable = [](const char*) { return nullptr; };  // of the environment
};

// In the order in which they are to be mended.
Findings examine(const Machine& machine);

// The parts of it, each with at least one finding.
Findings examine_library(const Machine& machine);  // found, architecture, version, ABI set, what it needs
Findings examine_npu(const Machine& machine);      // board, driver version, device nodes and groups, IOMMU
Findings examine_speed(const Machine& machine);    // CPU governors (limits.cpp)
Findings examine_models(const Machine& machine);   // memory against sizes, platform, version
Findings examine_limits(const Machine& machine);   // open files
Findings examine_ports(const Machine& machine);    // those of the settings
Findings examine_secrets(const Machine& machine);  // permissions of settings, access tokens, keys
Findings examine_network(const Machine& machine);  // clock, name resolution

// The cure where there is no library, or too old a one: fetches one to where the server looks for it.
std::string fetch_library(const Machine& machine);

// What several parts ask.
std::string text_of(const Machine& machine, std::string_view path);  // of a small file below the root; "" if unreadable
std::string runtime_version_of(const Machine& machine);  // "1.3.0", by the library's file; "" if there is none
std::string platform_of(const Machine& machine);         // "rk3588" by the device tree; "" if this is no such board

}  // namespace rkllm_mcp::doctor
