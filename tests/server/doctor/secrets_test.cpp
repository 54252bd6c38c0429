// Who may read what is secret, and who may change what the server obeys.
#include "doctor/doctor.hpp"

#include "server/doctor/made_board.hpp"
#include "support/catch.hpp"

#include <filesystem>

namespace rkllm_mcp::test {

TEST_CASE("settings that others may change, and access tokens that others may read, are problems") {
  Board board;
  board.put("settings.json", "{}");
  board.machine.settings_file = board.path("settings.json");
  std::filesystem::permissions(board.path("settings.json"), std::filesystem::perms(0666));
  auto fault = only_fault(doctor::examine_secrets(board.machine));
  CHECK(fault.level == doctor::Level::kProblem);
  CHECK(fault.cure == "chmod go-w " + board.path("settings.json"));
  std::filesystem::permissions(board.path("settings.json"), std::filesystem::perms(0644));
  CHECK(faults(doctor::examine_secrets(board.machine)).empty());
  board.put("tokens", "me secret\n");
  std::filesystem::permissions(board.path("tokens"), std::filesystem::perms(0644));
  board.machine.settings.auth.tokens = board.path("tokens");
  fault = only_fault(doctor::examine_secrets(board.machine));
  CHECK(fault.cure == "chmod 600 " + board.path("tokens"));
}

TEST_CASE("a private key that others may read is a problem, and so is a file of the settings that is not there") {
  Board board;
  board.put("server.key", "a key");
  board.machine.settings.tls.key = board.path("server.key");
  for (const auto mode : {0640U, 0604U}) {
    std::filesystem::permissions(board.path("server.key"), std::filesystem::perms(mode));
    const auto fault = only_fault(doctor::examine_secrets(board.machine));
    CHECK(fault.level == doctor::Level::kProblem);
    CHECK_THAT(fault.text, has_text("server.key (private key) can be read by other users"));
    CHECK(fault.cure == "chmod 600 " + board.path("server.key"));
  }
  std::filesystem::permissions(board.path("server.key"), std::filesystem::perms(0600));
  CHECK(faults(doctor::examine_secrets(board.machine)).empty());
  board.machine.settings.auth.tokens = board.path("no tokens");
  const auto fault = only_fault(doctor::examine_secrets(board.machine));
  CHECK(fault.level == doctor::Level::kProblem);
  CHECK_THAT(fault.text, has_text("no tokens (access tokens) is not there"));
  CHECK(fault.cure == "ls -l '" + board.path("no tokens") + "'   # then put it there, or take it out of the settings");
}

TEST_CASE("each kind of file is kept from what others may do with it, and where there is none nothing is wrong") {
  Board board;
  const auto nothing = doctor::examine_secrets(board.machine);
  REQUIRE(nothing.size() == 1);
  CHECK(nothing[0].level == doctor::Level::kOk);
  board.put("file", "{}");
  const auto fault_with = [&board](unsigned mode) {
    std::filesystem::permissions(board.path("file"), std::filesystem::perms(mode));
    const auto found = faults(doctor::examine_secrets(board.machine));
    return found.empty() ? std::string() : found.at(0).cure.substr(0, found.at(0).cure.find(" /"));
  };
  SECTION("settings") {
    board.machine.settings_file = board.path("file");
    CHECK(fault_with(0444).empty());
    CHECK(fault_with(0620) == "chmod go-w");
    CHECK(fault_with(0602) == "chmod go-w");
  }
  SECTION("access tokens") {
    board.machine.settings.auth.tokens = board.path("file");
    CHECK(fault_with(0600).empty());
    CHECK(fault_with(0610).empty());  // what may be executed tells nothing
    CHECK(fault_with(0640) == "chmod 600");
    CHECK(fault_with(0604) == "chmod 600");
    CHECK(fault_with(0620) == "chmod go-w");
  }
}

}  // namespace rkllm_mcp::test
