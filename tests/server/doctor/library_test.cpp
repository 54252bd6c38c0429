// The runtime library: found, for this machine, of a version that is known, with all that it needs.
#include "doctor/doctor.hpp"

#include "server/doctor/made_board.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"

#include <filesystem>
#include <string>

namespace rkllm_mcp::test {

TEST_CASE("a library that is not there is a problem, and the cure fetches it") {
  Board board;
  board.remove("usr/lib/librkllmrt.so");
  const auto fault = only_fault(doctor::examine_library(board.machine));
  CHECK(fault.level == doctor::Level::kProblem);
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
  std::filesystem::create_directories(board.path("opt/r k"));
  CHECK_THAT(cure(), !has_text("mkdir"));
}

TEST_CASE("a library for another machine is a problem that names both") {
  Board board;
  std::string library = read_file(board.path("usr/lib/librkllmrt.so"));
  library[18] = library[18] == 62 ? '\xb7' : 62;  // e_machine: x86_64 or aarch64
  board.put("usr/lib/librkllmrt.so", library);
  const auto fault = only_fault(doctor::examine_library(board.machine));
  CHECK(fault.level == doctor::Level::kProblem);
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
  CHECK(
      std::any_of(found.begin(), found.end(), [](const auto& each) { return each.level == doctor::Level::kProblem; }));
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
  CHECK(found[1].level == doctor::Level::kWarning);
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
    return each.level == doctor::Level::kProblem && each.text.find("needs libmissing.so9") != std::string::npos;
  }));
}

}  // namespace rkllm_mcp::test
