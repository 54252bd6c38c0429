// A machine that tests make up: a tree of files below a folder, of a board on which nothing is wrong, so that each test
// puts one fault there.
#pragma once

#include "doctor/doctor.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"

#include <sys/stat.h>
#include <sys/types.h>

#include <filesystem>
#include <regex>
#include <string>

namespace rkllm_mcp::test {

inline constexpr uid_t kSomebody = 4242;
inline constexpr gid_t kTheirGroup = 4243;

// A board on which nothing is wrong.
class Board {
 public:
  Board() {
    using std::string_literals::operator""s;
    put("proc/device-tree/model", "Orange Pi 5\0"s);
    put("proc/device-tree/compatible", "xunlong,orangepi-5\0rockchip,rk3588s\0"s);
    put("proc/meminfo", "MemTotal:        8000000 kB\nMemFree: 5 kB\nMemAvailable:    6000000 kB\n");
    put("proc/self/limits",
        "Limit Soft Hard Units\nMax open files            1048576              1048576              files\n");
    put("proc/net/tcp", kNetHeader);
    put("proc/net/udp", kNetHeader);
    put("sys/class/devfreq/fdab0000.npu/governor", "rknpu_ondemand\n");
    put("sys/kernel/debug/rknpu/version", "RKNPU driver: v0.9.8\n");
    put("sys/bus/platform/devices/fdab0000.npu/iommu_group/name", "");
    put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    put("dev/dri/renderD129", "");
    std::filesystem::permissions(path("dev/dri/renderD129"), std::filesystem::perms(0666));
    put("etc/resolv.conf", "nameserver 192.168.1.1\n");
    put("etc/group", "root:x:0:\nrender:x:" + std::to_string(kTheirGroup) + ":\n");
    put("models/a-rk3588-w8a8.rkllm", "weights");
    std::filesystem::create_directories(path("usr/lib"));
    std::filesystem::copy_file(kSimulator, path("usr/lib/librkllmrt.so"));
    for (const char* name : {"libstdc++.so.6", "libgcc_s.so.1", "libc.so.6", "libm.so.6", "libdl.so.2",
                             "libpthread.so.0", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libasan.so.8",
                             "libubsan.so.1", "libtsan.so.2", "libasan.so.6", "libtsan.so.0"}) {
      put(std::string("usr/lib/") + name, "");
    }
    machine.root = folder_.path();
    machine.identity = {kSomebody, {}};
    machine.settings.runtime.model_dirs = {path("models")};
  }

  std::string path(const std::string& name) const { return folder_ / name; }
  void put(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    write_file(path(name), text);
  }
  void remove(const std::string& name) { std::filesystem::remove_all(path(name)); }

  doctor::Machine machine;
  static constexpr const char* kNetHeader =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

 private:
  TemporaryDirectory folder_;
};

// What only shows something; a person has to be told what to do then.
inline bool only_looks(const std::string& cure) {
  static const std::regex kLooks(
      "(sudo )?(ls|cat|zcat|env|ip|uname|ss|dmesg|stat|getent|resolvectl|nmcli|apt-file|ulimit -n$|rkllm-mcp "
      "(--version|models|ps|status|settings|logs))( .*)?");
  return std::regex_match(cure.substr(0, cure.find("   # ")), kLooks);
}

// The findings that are not ok; each has a cure.
inline doctor::Findings faults(const doctor::Findings& findings) {
  doctor::Findings faults;
  for (const auto& each : findings) {
    CHECK_FALSE(each.text.empty());
    CHECK(each.cure.empty() == (each.level == doctor::Level::kOk));
    INFO(each.cure);
    CHECK((!only_looks(each.cure) || each.cure.find("   # ") != std::string::npos));
    if (each.level != doctor::Level::kOk) faults.push_back(each);
  }
  return faults;
}

inline doctor::Finding only_fault(const doctor::Findings& findings) {
  const doctor::Findings found = faults(findings);
  for (const auto& each : found) UNSCOPED_INFO(each.subject << ": " << each.text);
  REQUIRE(found.size() == 1);
  return found.front();
}

}  // namespace rkllm_mcp::test
