#include "auth/access_tokens.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"

#include <sys/stat.h>

#include <stdexcept>
#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

class TokenFile {
 public:
  explicit TokenFile(const std::string& text, mode_t mode = 0600) : path(directory_ / "tokens") {
    write_file(path, text);
    REQUIRE(chmod(path.c_str(), mode) == 0);
  }

 private:
  TemporaryDirectory directory_;

 public:
  const std::string path;
};

std::string refusal(const TokenFile& file) {
  try {
    AccessTokens::read(file.path);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a token is known by itself or by its hash, with the permissions of its line") {
  const TokenFile file(
      "# who may call\n\n"
      "laptop  correct-horse-battery\n"
      "\tphone\tanother-long-token\tcall\r\n"
      "script  sha256:9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08  admin\n");
  const AccessTokens tokens = AccessTokens::read(file.path);
  REQUIRE(tokens.find("correct-horse-battery") != nullptr);
  CHECK(tokens.find("correct-horse-battery")->name == "laptop");
  CHECK(tokens.find("correct-horse-battery")->may_admin);
  REQUIRE(tokens.find("another-long-token") != nullptr);
  CHECK(tokens.find("another-long-token")->may_call);
  CHECK_FALSE(tokens.find("another-long-token")->may_admin);
  REQUIRE(tokens.find("test") != nullptr);  // of which the hash is
  CHECK(tokens.find("test")->may_call);
  for (const char* const other : {"", "correct-horse", "correct-horse-batterY", "correct-horse-battery\n", "laptop"}) {
    CHECK(tokens.find(other) == nullptr);
  }
}

TEST_CASE("a file of tokens that others can read is refused") {
  const std::string line = "laptop correct-horse-battery\n";
  for (const mode_t mode : {0640U, 0604U, 0660U, 0601U, 0644U}) {
    const TokenFile file(line, mode);
    CHECK(refusal(file) == file.path + ": is open to other users; close it with chmod 600");
  }
  CHECK(refusal(TokenFile(line, 0400)).empty());
}

TEST_CASE("what is wrong with a file of tokens is told with its line, and without its tokens") {
  const auto complaint = [](const std::string& text) {
    const TokenFile file(text);
    const std::string whole = refusal(file);
    REQUIRE(whole.substr(0, file.path.size()) == file.path);
    return whole.substr(file.path.size());
  };
  CHECK(complaint("") == ": holds no token");
  CHECK(complaint("# nothing\n") == ": holds no token");
  CHECK(complaint("laptop\n") == ":1: the token must have 16 characters or more");
  CHECK(complaint("\nlaptop tooshort\n") == ":2: the token must have 16 characters or more");
  CHECK(complaint("laptop sha256:12\n") == ":1: sha256: must be followed by 64 hexadecimal digits");
  CHECK(complaint("laptop sha256:" + std::string(64, 'g')) == ":1: sha256: must be followed by 64 hexadecimal digits");
  CHECK(complaint("laptop correct-horse-battery call,root\n") ==
        ":1: unknown permission \"root\"; there are call and admin");
  CHECK(complaint("laptop correct-horse-battery call admin\n") ==
        ":1: expected a name, a token and perhaps permissions");
  CHECK_THROWS_WITH(AccessTokens::read("/nowhere/tokens"), "/nowhere/tokens: No such file or directory");
  CHECK_THROWS_WITH(AccessTokens::read("/proc"), "/proc: not a file");
  const TemporaryDirectory directory;
  const std::string pipe = directory / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(AccessTokens::read(pipe), pipe + ": not a file");
}
