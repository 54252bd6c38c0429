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

}  // namespace rkllm_mcp::test
