// What doctor says of machines that tests make up: a tree of files below a folder, one fault each.
#include "doctor/doctor.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"
#include "support/terminal_process.hpp"

#include <rkllm_mcp/json.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;
using doctor::Findings;
using doctor::Level;
namespace fs = std::filesystem;

namespace {

constexpr uid_t kSomebody = 4242;
constexpr gid_t kTheirGroup = 4243;

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
    fs::permissions(path("dev/dri/renderD129"), fs::perms(0666));
    put("etc/resolv.conf", "nameserver 192.168.1.1\n");
    put("etc/group", "root:x:0:\nrender:x:" + std::to_string(kTheirGroup) + ":\n");
    put("models/a-rk3588-w8a8.rkllm", "weights");
    fs::create_directories(path("usr/lib"));
    fs::copy_file(kSimulator, path("usr/lib/librkllmrt.so"));
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
    fs::create_directories(fs::path(path(name)).parent_path());
    write_file(path(name), text);
  }
  void remove(const std::string& name) { fs::remove_all(path(name)); }

  doctor::Machine machine;
  static constexpr const char* kNetHeader =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

 private:
  TemporaryDirectory folder_;
};

// The findings that are not ok; each has a cure.
// What only shows something; a person has to be told what to do then.
bool only_looks(const std::string& cure) {
  static const std::regex kLooks(
      "(sudo )?(ls|cat|zcat|env|ip|uname|ss|dmesg|stat|getent|resolvectl|nmcli|apt-file|ulimit -n$|rkllm-mcp "
      "(--version|models|ps|status|settings|logs))( .*)?");
  return std::regex_match(cure.substr(0, cure.find("   # ")), kLooks);
}

Findings faults(const Findings& findings) {
  Findings faults;
  for (const auto& each : findings) {
    CHECK_FALSE(each.text.empty());
    CHECK(each.cure.empty() == (each.level == Level::kOk));
    INFO(each.cure);
    CHECK((!only_looks(each.cure) || each.cure.find("   # ") != std::string::npos));
    if (each.level != Level::kOk) faults.push_back(each);
  }
  return faults;
}

doctor::Finding only_fault(const Findings& findings) {
  const Findings found = faults(findings);
  for (const auto& each : found) UNSCOPED_INFO(each.subject << ": " << each.text);
  REQUIRE(found.size() == 1);
  return found.front();
}

}  // namespace

TEST_CASE("on a board without faults doctor finds none but that the library is the simulator") {
  const Board board;
  const auto fault = only_fault(doctor::examine(board.machine));
  CHECK(fault.subject == "library");
  CHECK(fault.level == Level::kWarning);
  CHECK_THAT(fault.text, has_text("is the simulator"));
}

TEST_CASE("a library that is not there is a problem, and the cure fetches it") {
  Board board;
  board.remove("usr/lib/librkllmrt.so");
  const auto fault = only_fault(doctor::examine_library(board.machine));
  CHECK(fault.level == Level::kProblem);
  CHECK_THAT(fault.text, has_text("librkllmrt.so"));
  CHECK_THAT(fault.cure, has_text("sudo curl -fLo /usr/lib/librkllmrt.so.new https://") &&
                             has_text(" && sudo mv /usr/lib/librkllmrt.so.new /usr/lib/librkllmrt.so"));
}

TEST_CASE("a library of the settings that is not there is fetched to where they say, beside it first") {
  Board board;
  board.machine.settings.runtime.library = board.path("opt/r k/librkllmrt.so");
  const std::string to = "'" + board.path("opt/r k/librkllmrt.so") + "'";
  const std::string fresh = "'" + board.path("opt/r k/librkllmrt.so.new") + "'";
  const auto cure = [&board] { return only_fault(doctor::examine_library(board.machine)).cure; };
  CHECK_THAT(cure(),
             has_text("sudo mkdir -p '" + board.path("opt/r k") + "' && sudo curl -fLo " + fresh + " https://"));
  CHECK_THAT(cure(), has_text(" && sudo mv " + fresh + " " + to));
  fs::create_directories(board.path("opt/r k"));
  CHECK_THAT(cure(), !has_text("mkdir"));
}

TEST_CASE("a library for another machine is a problem that names both") {
  Board board;
  std::string library = read_file(board.path("usr/lib/librkllmrt.so"));
  library[18] = library[18] == 62 ? '\xb7' : 62;  // e_machine: x86_64 or aarch64
  board.put("usr/lib/librkllmrt.so", library);
  const auto fault = only_fault(doctor::examine_library(board.machine));
  CHECK(fault.level == Level::kProblem);
  CHECK_THAT(fault.text, has_text("aarch64"));
}

TEST_CASE("a library of a version that no ABI set fits is a problem") {
  Board board;
  std::string library = read_file(board.path("usr/lib/librkllmrt.so"));
  const std::string marker = "RKLLM SDK (version: ";
  const auto at = library.find(marker);
  REQUIRE(at != std::string::npos);
  library[at + marker.size()] = '0';
  board.put("usr/lib/librkllmrt.so", library);
  const auto found = faults(doctor::examine_library(board.machine));
  CHECK(std::any_of(found.begin(), found.end(), [](const auto& each) { return each.level == Level::kProblem; }));
}

TEST_CASE("a later release of a known series is used with a warning that names both") {
  Board board;
  std::string library = read_file(board.path("usr/lib/librkllmrt.so"));
  const std::string marker = "RKLLM SDK (version: 1.3.";
  const auto at = library.find(marker);
  REQUIRE(at != std::string::npos);
  library[at + marker.size()] = '7';
  board.put("usr/lib/librkllmrt.so", library);
  const auto found = faults(doctor::examine_library(board.machine));
  REQUIRE(found.size() == 2);  // the other one: it is the simulator
  CHECK(found[1].level == Level::kWarning);
  CHECK_THAT(found[1].text, has_text("runtime 1.3.7 is not known; ABI set 1.3.0 is used"));
  CHECK_THAT(found[1].cure, has_text("rkllm-mcp --version"));
}

TEST_CASE("a library that another one is missing for names the missing one") {
  Board board;
  std::string library = read_file(board.path("usr/lib/librkllmrt.so"));
  const std::string needed = "libstdc++.so.6";
  const auto at = library.find(needed);
  REQUIRE(at != std::string::npos);
  library.replace(at, needed.size(), "libmissing.so9");  // as long
  board.put("usr/lib/librkllmrt.so", library);
  const auto found = faults(doctor::examine_library(board.machine));
  CHECK(std::any_of(found.begin(), found.end(), [](const auto& each) {
    return each.level == Level::kProblem && each.text.find("needs libmissing.so9") != std::string::npos;
  }));
}

TEST_CASE("a machine that is no Rockchip board is told of the simulator") {
  Board board;
  board.remove("proc/device-tree");
  board.remove("sys/class/devfreq");
  const auto fault = only_fault(doctor::examine_npu(board.machine));
  CHECK(fault.level == Level::kWarning);
  CHECK_THAT(fault.cure, has_text("--simulator"));
}

TEST_CASE("a kernel without NPU driver is a problem") {
  Board board;
  board.remove("sys/class/devfreq");
  const auto fault = only_fault(doctor::examine_npu(board.machine));
  CHECK(fault.subject == "npu driver");
  CHECK(fault.level == Level::kProblem);
}

TEST_CASE("an NPU driver before 0.9.7 is a problem, 0.9.7 is none, and 0.10.0 is newer") {
  Board board;
  board.put("sys/kernel/debug/rknpu/version", "RKNPU driver: v0.9.6\n");
  CHECK(only_fault(doctor::examine_npu(board.machine)).level == Level::kProblem);
  board.put("sys/kernel/debug/rknpu/version", "RKNPU driver: v0.9.7\n");
  CHECK(faults(doctor::examine_npu(board.machine)).empty());
  board.put("sys/kernel/debug/rknpu/version", "RKNPU driver: v0.10.0\n");
  CHECK(faults(doctor::examine_npu(board.machine)).empty());
}

TEST_CASE("a driver version that only root may read comes with the command that lets everybody read it") {
  Board board;
  board.remove("sys/kernel/debug/rknpu/version");
  const auto fault = only_fault(doctor::examine_npu(board.machine));
  CHECK(fault.level == Level::kWarning);
  CHECK_THAT(fault.cure, has_text("sudo mount --bind /sys/kernel/debug/rknpu /run/rkllm-mcp/rknpu"));
}

TEST_CASE("a driver version that is no number is a warning that says it") {
  Board board;
  board.put("sys/kernel/debug/rknpu/version", "RKNPU driver: vendor-build\n");
  const auto fault = only_fault(doctor::examine_npu(board.machine));
  CHECK(fault.subject == "npu driver");
  CHECK(fault.level == Level::kWarning);
  CHECK_THAT(fault.text, has_text("vendor-build; whether that is 0.9.7 or newer cannot be told"));
}

TEST_CASE("device nodes that are missing are a problem") {
  Board board;
  board.remove("dev/dri");
  const auto fault = only_fault(doctor::examine_npu(board.machine));
  CHECK(fault.subject == "device nodes");
  CHECK(fault.level == Level::kProblem);
}

TEST_CASE("a device node that this user may not open names it, and the cure joins the group or opens the node") {
  Board board;
  fs::permissions(board.path("dev/dri/renderD129"), fs::perms(0600));
  auto fault = only_fault(doctor::examine_npu(board.machine));
  CHECK(fault.level == Level::kProblem);
  CHECK_THAT(fault.text, has_text("/dev/dri/renderD129"));
  CHECK(fault.cure == "sudo chmod a+rw /dev/dri/renderD129");
  if (::chown(board.path("dev/dri/renderD129").c_str(), 0, kTheirGroup) != 0) return;  // only root may
  fs::permissions(board.path("dev/dri/renderD129"), fs::perms(0660));
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
  CHECK(fault.level == Level::kProblem);
}

TEST_CASE("an IOMMU that cannot be told is a warning, and the cure looks for it in the kernel's log") {
  Board board;
  board.remove("sys/bus/platform/devices");
  const auto fault = only_fault(doctor::examine_npu(board.machine));
  CHECK(fault.subject == "iommu");
  CHECK(fault.level == Level::kWarning);
  CHECK_THAT(fault.text, has_text("cannot be told"));
  CHECK_THAT(fault.cure, has_text("dmesg"));
}

TEST_CASE("a governor that saves energy is a warning") {
  Board board;
  board.put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  const auto fault = only_fault(doctor::examine_speed(board.machine));
  CHECK(fault.level == Level::kWarning);
  CHECK_THAT(fault.text, has_text("powersave"));
  CHECK_THAT(fault.cure, has_text("performance"));
}

TEST_CASE("a model for another chip is a problem, by its name") {
  Board board;
  fs::rename(board.path("models/a-rk3588-w8a8.rkllm"), board.path("models/a-RK3576.rkllm"));
  const auto fault = only_fault(doctor::examine_models(board.machine));
  CHECK(fault.level == Level::kProblem);
  CHECK_THAT(fault.text, has_text("rk3576"));
  CHECK_THAT(fault.text, has_text("rk3588"));
}

TEST_CASE("a model that is larger than the memory is a problem, than what is free of it a warning") {
  Board board;
  fs::resize_file(board.path("models/a-rk3588-w8a8.rkllm"), 7'000'000'000);  // sparse
  CHECK(only_fault(doctor::examine_models(board.machine)).level == Level::kWarning);
  fs::resize_file(board.path("models/a-rk3588-w8a8.rkllm"), 9'000'000'000);
  CHECK(only_fault(doctor::examine_models(board.machine)).level == Level::kProblem);
}

TEST_CASE(
    "what version of the toolkit has made a model is told by its name, else unknown, and warned of if it is newer") {
  Board board;
  CHECK_THAT(doctor::examine_models(board.machine).at(0).text, has_text("made with an unknown version of the toolkit"));
  fs::rename(board.path("models/a-rk3588-w8a8.rkllm"), board.path("models/a-rk3588-w8a8_1.2.1.rkllm"));
  const auto older = doctor::examine_models(board.machine);
  CHECK(faults(older).empty());
  CHECK_THAT(older.at(0).text, has_text("made with toolkit 1.2.1 by its name"));
  fs::rename(board.path("models/a-rk3588-w8a8_1.2.1.rkllm"), board.path("models/a-rk3588-w8a8-v1.10.0.rkllm"));
  const auto newer = only_fault(doctor::examine_models(board.machine));
  CHECK(newer.level == Level::kWarning);
  CHECK_THAT(newer.text, has_text("version 1.10.0 of the toolkit") && has_text("the runtime 1.3.0 is older"));
  board.remove("usr/lib/librkllmrt.so");  // there is nothing to compare with
  CHECK(faults(doctor::examine_models(board.machine)).empty());
}

TEST_CASE("which platform a model is for is told by its name, else unknown, and a date there is no version") {
  Board board;
  CHECK_THAT(doctor::examine_models(board.machine).at(0).text, has_text(", for rk3588, made with"));
  fs::rename(board.path("models/a-rk3588-w8a8.rkllm"), board.path("models/qwen3-2025.07.10.rkllm"));
  const auto findings = doctor::examine_models(board.machine);
  CHECK(faults(findings).empty());
  CHECK_THAT(findings.at(0).text, has_text(", for an unknown platform, made with an unknown version of the toolkit"));
}

TEST_CASE("a model of no bytes is a problem") {
  Board board;
  fs::resize_file(board.path("models/a-rk3588-w8a8.rkllm"), 0);
  const auto fault = only_fault(doctor::examine_models(board.machine));
  CHECK(fault.level == Level::kProblem);
  CHECK_THAT(fault.text, has_text("is empty"));
}

TEST_CASE("a folder of models that is not there is a problem, and the cure makes it") {
  Board board;
  board.machine.settings.runtime.model_dirs = {board.path("nowhere")};
  const auto fault = only_fault(doctor::examine_models(board.machine));
  CHECK(fault.level == Level::kProblem);
  CHECK(fault.cure == "mkdir -p " + board.path("nowhere"));
}

TEST_CASE("no models at all is a warning") {
  Board board;
  board.remove("models/a-rk3588-w8a8.rkllm");
  CHECK(only_fault(doctor::examine_models(board.machine)).level == Level::kWarning);
}

TEST_CASE("fewer open files than the connections may need is a warning") {
  Board board;
  board.put("proc/self/limits", "Max open files            64                   64                   files\n");
  const auto fault = only_fault(doctor::examine_limits(board.machine));
  CHECK(fault.level == Level::kWarning);
  CHECK_THAT(fault.cure, has_text("ulimit -n"));
}

TEST_CASE("a kernel that does not say how many files may be open is a warning") {
  Board board;
  for (const char* const limits : {"", "Limit Soft Hard Units\nMax processes 100 100 processes\n", "Max open files"}) {
    INFO(limits);
    board.put("proc/self/limits", limits);
    const auto fault = only_fault(doctor::examine_limits(board.machine));
    CHECK(fault.level == Level::kWarning);
    CHECK_THAT(fault.text, has_text("/proc/self/limits does not say how many"));
  }
}

TEST_CASE("a port that another program has is a problem that names it, and one that the server has is none") {
  Board board;
  board.put("proc/net/tcp",
            std::string(Board::kNetHeader) +
                "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 777 1\n");
  auto fault = only_fault(doctor::examine_ports(board.machine));
  CHECK(fault.level == Level::kProblem);
  CHECK_THAT(fault.text, has_text("http.port 8080 is taken by another user's program"));
  // The server of a service's user, whose files nobody else may look into.
  board.put("proc/88/comm", "rkllm-mcp\n");
  board.put("proc/88/status", "Name:\trkllm-mcp\nUid:\t0\t0\t0\t0\n");
  CHECK(faults(doctor::examine_ports(board.machine)).empty());
  board.put("proc/88/status", "Name:\trkllm-mcp\nUid:\t1000\t1000\t1000\t1000\n");
  CHECK(only_fault(doctor::examine_ports(board.machine)).level == Level::kProblem);
  board.put("proc/99/comm", "nginx\n");
  fs::create_directories(board.path("proc/99/fd"));
  fs::create_symlink("socket:[777]", board.path("proc/99/fd/3"));
  fault = only_fault(doctor::examine_ports(board.machine));
  CHECK_THAT(fault.text, has_text("nginx, process 99"));
  CHECK_THAT(fault.cure, has_text("--set http.port="));
  board.put("proc/99/comm", "rkllm-mcp\n");
  CHECK(faults(doctor::examine_ports(board.machine)).empty());
}

TEST_CASE(
    "a port that is taken over IPv6 alone, or for datagrams, is a problem, and the same number elsewhere is none") {
  Board board;
  board.machine.settings.udp.enabled = true;
  board.machine.settings.udp.port = 8082;
  const std::string any_host(32, '0');  // of IPv6
  const auto row = [](const std::string& host, const char* port, const char* state) {
    return Board::kNetHeader + std::string("   0: ") + host + ":" + port + " " + host + ":0000 " + state +
           " 00000000:00000000 00:00000000 00000000  0  0 777 1\n";
  };
  const auto only_text = [&] { return only_fault(doctor::examine_ports(board.machine)).text; };
  board.put("proc/net/tcp6", row(any_host, "1F90", "0A"));
  CHECK_THAT(only_text(), has_text("http.port 8080 is taken"));
  board.put("proc/net/tcp6", row(any_host, "1F90", "01"));  // a connection, whose port is no server's
  CHECK(faults(doctor::examine_ports(board.machine)).empty());
  for (const char* const table : {"proc/net/udp", "proc/net/udp6"}) {
    INFO(table);
    const std::string host = std::string_view(table).ends_with('6') ? any_host : "00000000";
    board.put(table, row(host, "1F92", "07"));
    CHECK_THAT(only_text(), has_text("udp.port 8082 is taken"));
    board.put(table, row(host, "1F90", "07"));  // 8080, where HTTP has no datagrams
    CHECK(faults(doctor::examine_ports(board.machine)).empty());
  }
}

TEST_CASE("a port that only root may open is a problem for others, and another port is one that there is") {
  Board board;
  board.machine.settings.http.port = 80;
  board.machine.identity.user = 1000;
  CHECK_THAT(only_fault(doctor::examine_ports(board.machine)).text,
             has_text("http.port 80 may be opened by root only"));
  board.put("proc/sys/net/ipv4/ip_unprivileged_port_start", "80\n");
  CHECK(faults(doctor::examine_ports(board.machine)).empty());
  board.machine.settings.http.port = 65000;
  board.put("proc/net/tcp",
            std::string(Board::kNetHeader) +
                "   0: 0100007F:FDE8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 777 1\n");
  board.put("proc/99/comm", "nginx\n");
  fs::create_directories(board.path("proc/99/fd"));
  fs::create_symlink("socket:[777]", board.path("proc/99/fd/3"));
  CHECK_THAT(only_fault(doctor::examine_ports(board.machine)).cure, has_text("--set http.port=64000"));
}

TEST_CASE("a model of the settings that is in none of the folders is a problem that names both") {
  Board board;
  board.machine.settings.models = {{"big", {{"param", {{"model_path", "missing.rkllm"}}}}}};
  const auto found = faults(doctor::examine_models(board.machine));
  const auto named = std::find_if(found.begin(), found.end(), [](const auto& each) {
    return each.text.find("models.big: missing.rkllm is in none of the folders") != std::string::npos;
  });
  REQUIRE(named != found.end());
  CHECK(named->level == Level::kProblem);
}

TEST_CASE("a model of the settings that is nowhere, or has no path, is told as that, and nothing is to be moved") {
  Board board;
  const auto fault_of = [&board](const std::string& path) {
    board.machine.settings.models = {{"big", {{"param", {{"model_path", path}}}}}};
    return only_fault(doctor::examine_models(board.machine));
  };
  const auto nowhere = fault_of("/nowhere/big.rkllm");
  CHECK(nowhere.text == "models.big: /nowhere/big.rkllm is not there");
  CHECK_THAT(nowhere.cure, has_text("rkllm-mcp pull") && !has_text("mv "));
  const auto empty = fault_of("");
  CHECK(empty.text == "models.big names no file: its model_path is empty");
  CHECK_THAT(empty.cure, has_text("models.big.param.model_path") && !has_text("mv "));
}

TEST_CASE("a relative path of a model is looked for where the server would, and looked at there, once") {
  Board board;
  const auto name_model = [&board](const std::string& path) {
    board.machine.settings.models = {{"big", {{"param", {{"model_path", path}}}}}};
  };
  name_model("a-rk3588-w8a8.rkllm");
  CHECK(doctor::examine_models(board.machine).size() == 1);
  // Also below the cache directory, and nowhere else where there are folders of models.
  board.machine.settings.runtime.cache_dir = board.path("caches");
  board.put("caches/kept-rk3576.rkllm", "weights");
  name_model("kept-rk3576.rkllm");
  const auto kept = only_fault(doctor::examine_models(board.machine));
  CHECK_THAT(kept.text, has_text(board.path("caches/kept-rk3576.rkllm") + " is, by its name, for rk3576"));
  board.put("outside.rkllm", "weights");
  name_model(board.path("outside.rkllm"));
  const auto outside = only_fault(doctor::examine_models(board.machine));
  CHECK_THAT(outside.text, has_text("expected a file below one of runtime.model_dirs"));
  CHECK_THAT(outside.cure, has_text("mv " + board.path("outside.rkllm") + " FOLDER"));
  // Without folders the user's own is no place for relative paths, but the working directory is.
  board.machine.settings.runtime.model_dirs = {};
  board.machine.settings.runtime.cache_dir = board.path("no caches");
  const std::string here = fs::relative(board.path("outside.rkllm")).string();
  name_model(here);
  const auto findings = doctor::examine_models(board.machine);
  CHECK(std::ranges::any_of(findings, [&here](const auto& each) { return each.text.starts_with(here + ", "); }));
}

TEST_CASE("the port of the services is looked at if they have one") {
  Board board;
  board.machine.settings.services.enabled = true;
  board.machine.settings.services.port = 8090;
  board.put("proc/net/tcp",
            std::string(Board::kNetHeader) +
                "   0: 0100007F:1F9A 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 777 1\n");
  const auto fault = only_fault(doctor::examine_ports(board.machine));
  CHECK(fault.level == Level::kProblem);
  CHECK_THAT(fault.text, has_text("services.port 8090 is taken"));
  SECTION("not if they are switched off") { board.machine.settings.services.enabled = false; }
  SECTION("not if any free one will do") { board.machine.settings.services.port = 0; }
  CHECK(faults(doctor::examine_ports(board.machine)).empty());
}

TEST_CASE("settings that others may change, and access tokens that others may read, are problems") {
  Board board;
  board.put("settings.json", "{}");
  board.machine.settings_file = board.path("settings.json");
  fs::permissions(board.path("settings.json"), fs::perms(0666));
  auto fault = only_fault(doctor::examine_secrets(board.machine));
  CHECK(fault.level == Level::kProblem);
  CHECK(fault.cure == "chmod go-w " + board.path("settings.json"));
  fs::permissions(board.path("settings.json"), fs::perms(0644));
  CHECK(faults(doctor::examine_secrets(board.machine)).empty());
  board.put("tokens", "me secret\n");
  fs::permissions(board.path("tokens"), fs::perms(0644));
  board.machine.settings.auth.tokens = board.path("tokens");
  fault = only_fault(doctor::examine_secrets(board.machine));
  CHECK(fault.cure == "chmod 600 " + board.path("tokens"));
}

TEST_CASE("a private key that others may read is a problem, and so is a file of the settings that is not there") {
  Board board;
  board.put("server.key", "a key");
  board.machine.settings.tls.key = board.path("server.key");
  for (const auto mode : {0640U, 0604U}) {
    fs::permissions(board.path("server.key"), fs::perms(mode));
    const auto fault = only_fault(doctor::examine_secrets(board.machine));
    CHECK(fault.level == Level::kProblem);
    CHECK_THAT(fault.text, has_text("server.key (private key) can be read by other users"));
    CHECK(fault.cure == "chmod 600 " + board.path("server.key"));
  }
  fs::permissions(board.path("server.key"), fs::perms(0600));
  CHECK(faults(doctor::examine_secrets(board.machine)).empty());
  board.machine.settings.auth.tokens = board.path("no tokens");
  const auto fault = only_fault(doctor::examine_secrets(board.machine));
  CHECK(fault.level == Level::kProblem);
  CHECK_THAT(fault.text, has_text("no tokens (access tokens) is not there"));
  CHECK(fault.cure == "ls -l '" + board.path("no tokens") + "'   # then put it there, or take it out of the settings");
}

TEST_CASE("a cure can be pasted where a file's name has blanks") {
  Board board;
  board.put("models/em pty.rkllm", "");
  const std::string path = board.path("models/em pty.rkllm");
  for (const auto& fault : faults(doctor::examine_models(board.machine))) {
    if (fault.text.find("empty") != std::string::npos) CHECK_THAT(fault.cure, has_text("rm '" + path + "'"));
  }
  CHECK(fs::exists(path));
}

TEST_CASE("a clock that stands in the past is a problem") {
  Board board;
  board.machine.now = std::chrono::system_clock::time_point{};
  const auto fault = only_fault(doctor::examine_network(board.machine));
  CHECK(fault.subject == "clock");
  CHECK(fault.level == Level::kProblem);
}

TEST_CASE("no name server, or a name without an address, is a warning") {
  Board board;
  board.machine.resolve = [](const std::string&) { return false; };
  CHECK(only_fault(doctor::examine_network(board.machine)).subject == "name resolution");
  board.machine.resolve = {};
  board.remove("etc/resolv.conf");
  CHECK(only_fault(doctor::examine_network(board.machine)).level == Level::kWarning);
}

TEST_CASE("the name that is looked up is that of the hub of the settings, or of the proxy on the way to it") {
  Board board;
  std::string asked;
  std::map<std::string, std::string> environment;
  board.machine.resolve = [&asked](const std::string& host) {
    asked = host;
    return false;
  };
  board.machine.variable = [&environment](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  };
  const auto fault = [&] { return only_fault(doctor::examine_network(board.machine)); };
  CHECK_THAT(fault().text, has_text("huggingface.co has no address here"));
  CHECK(asked == "huggingface.co");
  board.machine.settings.runtime.model_hub = "https://hub.example:8443/mirror";
  CHECK_THAT(fault().text, has_text("hub.example has no address here"));
  CHECK(asked == "hub.example");
  CHECK_THAT(fault().cure, has_text("ip route   # no line with default"));

  environment["https_proxy"] = "http://me:secret@proxy.example:3128";
  CHECK_THAT(fault().text,
             has_text("proxy.example, the proxy to hub.example, has no address here") && !has_text("secret"));
  CHECK(asked == "proxy.example");
  CHECK_THAT(fault().cure, has_text("ip route   # no line with default"));
  environment["no_proxy"] = ".example";
  CHECK_THAT(fault().text, has_text("hub.example has no address here"));
  board.machine.resolve = [](const std::string&) { return true; };
  CHECK(faults(doctor::examine_network(board.machine)).empty());

  environment = {{"https_proxy", "socks5://proxy.example"}};
  CHECK_THAT(fault().text, has_text("the proxy of https_proxy: "));
  CHECK_THAT(fault().cure, has_text("env | grep -i proxy"));

  // A proxy by its address, or one whose name is known here, needs no name server.
  board.remove("etc/resolv.conf");
  for (const char* const proxy : {"http://10.0.0.1:3128", "http://[fd00::1]:3128", "http://known.example:3128"}) {
    INFO(proxy);
    environment = {{"https_proxy", proxy}};
    board.machine.resolve = [](const std::string& host) { return host == "known.example"; };
    CHECK(faults(doctor::examine_network(board.machine)).empty());
    environment["no_proxy"] = "hub.example";
    CHECK_THAT(fault().text, has_text("no name server in /etc/resolv.conf"));
  }
}

TEST_CASE("the command doctor prints a line for each finding, its cure below, and JSON with --json") {
  const Board board;
  const std::vector<std::pair<std::string, std::string>> env{{"HOME", board.path("home")}};
  std::vector<std::string> text_args{kProgram,        "doctor", "--root",
                                     board.path("."), "--set",  "runtime.library=/no/such.so"};
  const auto text = run_to_end({.args = text_args, .env = env, .unset = {"XDG_CONFIG_HOME", "RKLLM_MCP_SETTINGS"}});
  CHECK(text.status == 1);
  CHECK(text.err.empty());
  CHECK_THAT(text.out, has_text("problem  library: no library at /no/such.so"));
  CHECK_THAT(text.out, has_text("ok       cpu governor: performance"));
  CHECK(text.out.find('\x1b') == std::string::npos);
  text_args.emplace_back("--json");
  const auto json = run_to_end({.args = text_args, .env = env, .unset = {"XDG_CONFIG_HOME", "RKLLM_MCP_SETTINGS"}});
  CHECK(json.status == 1);
  const Json report = Json::parse(json.out);
  CHECK(report["problems"].get<int>() >= 1);
  for (const Json& each : report["findings"]) {
    CHECK(each.size() == 4);
    CHECK(each["cure"].is_null() == (each["level"] == "ok"));
  }
}

TEST_CASE("doctor fits into a narrow terminal, where no command is broken, and breaks no line elsewhere") {
  Board board;
  board.put("proc/self/limits", "Max open files            16              16              files\n");
  Process::Options options{.args = {kProgram, "doctor", "--root", board.path("."), "--set", "runtime.library=/no.so"},
                           .env = {{"HOME", board.path("home")}, {"NO_COLOR", "1"}},
                           .unset = {"XDG_CONFIG_HOME", "RKLLM_MCP_SETTINGS"}};
  CHECK_THAT(run_to_end(options).out, has_text("\nok       name resolution: there is a name server\n") &&
                                          has_text("   # before the start; of the service: LimitNOFILE=\n"));
  TerminalProcess narrow(options, 40);
  CHECK(narrow.wait() == 1);
  std::string shown = narrow.shown();
  std::erase(shown, '\r');
  CHECK_THAT(shown, has_text("\nok       name resolution: there is a\n         name server\n"));
  CHECK_THAT(shown, has_text("\n         # before the start; of the\n         service: LimitNOFILE=\n"));
  options.args.emplace_back("--json");
  const Json report = Json::parse(run_to_end(options).out);
  for (const Json& each : report["findings"]) {
    if (each["cure"].is_null()) continue;
    const std::string cure = each["cure"].get<std::string>();
    const std::string line = "         " + cure.substr(0, cure.find("   #"));
    const auto at = shown.find("\n" + line + "\n");
    INFO(line);
    if (at != std::string::npos) shown.erase(at, line.size() + 1);
    CHECK((at != std::string::npos || line.size() < 40));  // a short one may have its remark beside it
  }
  std::istringstream lines(shown);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK((line.size() <= 40 || line.find_last_of(' ') < line.find_first_not_of(' ')));  // or one word
  }
}

TEST_CASE("doctor without --root asks for the names of this machine's settings and environment") {
  const TemporaryDirectory home;
  const std::string unknown(64, 'x');  // longer than a label may be: nobody has to be asked
  const auto finished =
      run_to_end({.args = {kProgram, "doctor", "--set", "runtime.model_hub=http://hub.example"},
                  .env = {{"HOME", home.path()}, {"http_proxy", unknown + ":3128"}},
                  .unset = {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "RKLLM_MCP_SETTINGS", "no_proxy", "NO_PROXY"}});
  CHECK_THAT(finished.out, has_text("name resolution: " + unknown + ", the proxy to hub.example, has no address") ||
                               has_text("name resolution: no name server in /etc/resolv.conf"));
}

TEST_CASE("settings that are refused are a problem for doctor, which looks at the rest all the same") {
  const Board board;
  const auto finished = run_to_end({.args = {kProgram, "doctor", "--root", board.path("."), "--set", "http.prot=1",
                                             "--set", "tcp.port=many", "--json"},
                                    .env = {{"HOME", board.path("home")}},
                                    .unset = {"XDG_CONFIG_HOME", "RKLLM_MCP_SETTINGS"}});
  CHECK(finished.status == 1);
  const Json report = Json::parse(finished.out);
  REQUIRE(report["findings"].size() > 4);
  CHECK(report["findings"][0]["subject"] == "settings");
  CHECK_THAT(report["findings"][0]["text"].get<std::string>(), has_text("http.port"));
  CHECK(report["findings"][1]["subject"] == "settings");
  CHECK(report["findings"][2]["subject"] != "settings");
}
