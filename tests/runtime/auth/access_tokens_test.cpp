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

TEST_CASE("a client machine is the host of its address, whatever its port") {
  CHECK(source_of("192.0.2.1:4711") == "192.0.2.1");
  CHECK(source_of("192.0.2.1:1") == source_of("192.0.2.1:65535"));
  CHECK(source_of("192.0.2.1:1") != source_of("192.0.2.2:1"));
  CHECK(source_of("192.0.2.1:1") != source_of("192.0.2.10:1"));
}

TEST_CASE("with IPv6 all addresses of a network are one client, however they are written") {
  const std::string source = source_of("[2001:db8:1:2::3]:4711");
  for (const char* const same :
       {"[2001:db8:1:2::3]:1", "[2001:db8:1:2:ffff:ffff:ffff:ffff]:4711", "[2001:0DB8:0001:0002::]:4711"}) {
    CAPTURE(same);
    CHECK(source_of(same) == source);
  }
  for (const char* const other : {"[2001:db8:1:3::3]:4711", "[2001:db8:2:2::3]:4711", "[::1]:4711", "[::]:1"}) {
    CAPTURE(other);
    CHECK(source_of(other) != source);
  }
  CHECK(source_of("[::1]:1") == source_of("[::2]:1"));
}

TEST_CASE("the interface that an IPv6 address is reached by does not count") {
  CHECK(source_of("[fe80::1%eth0]:4711") == source_of("[fe80::1]:4711"));
  CHECK(source_of("[fe80::1%eth0]:4711") == source_of("[fe80::2%eth1]:4711"));
}

TEST_CASE("IPv4 addresses that come as IPv6 are told apart one by one") {
  CHECK(source_of("[::ffff:192.0.2.1]:4711") == source_of("[::ffff:192.0.2.1]:1"));
  CHECK(source_of("[::ffff:192.0.2.1]:4711") != source_of("[::ffff:192.0.2.2]:4711"));
  CHECK(source_of("[::ffff:192.0.2.1]:4711") != source_of("[::1]:4711"));
}

TEST_CASE("a client of a Unix socket is its user, whatever the process") {
  CHECK(source_of("pid=7,uid=1000") == "uid=1000");
  CHECK(source_of("pid=8,uid=1000") == "uid=1000");
  CHECK(source_of("pid=7,uid=1001") == "uid=1001");
}

TEST_CASE("what is no address stands for itself") {
  CHECK(source_of("").empty());
  CHECK(source_of("stdio") == "stdio");
  CHECK(source_of("[") != source_of("[::1]:1"));
  CHECK(source_of("[no address]:7") == "no address");
  CHECK(source_of("gr\xC3\xBC\xC3\x9F:7") == "gr\xC3\xBC\xC3\x9F");
}

TEST_CASE("who has presented an access token is its holder wherever it calls from, anybody else the source") {
  const Principal laptop{.name = "laptop"};
  CHECK(owner_of(&laptop, "192.0.2.1:1") == owner_of(&laptop, "[2001:db8::1]:2"));
  CHECK(owner_of(&laptop, "192.0.2.1:1") == owner_of("laptop", "pid=7,uid=1000"));
  const Principal phone{.name = "phone"};
  CHECK(owner_of(&phone, "192.0.2.1:1") != owner_of(&laptop, "192.0.2.1:1"));

  const Principal everybody;  // where there are no tokens
  for (const Principal* const unnamed : {static_cast<const Principal*>(nullptr), &everybody}) {
    CHECK(owner_of(unnamed, "192.0.2.1:1") == "192.0.2.1");
    CHECK(owner_of(unnamed, "pid=7,uid=1000") == "uid=1000");
  }
  CHECK(owner_of("", "192.0.2.1:1") == "192.0.2.1");
}

TEST_CASE("a holder whose name is an address does not own what belongs to that address") {
  CHECK(owner_of("192.0.2.1", "192.0.2.2:1") != source_of("192.0.2.1:1"));
  CHECK(owner_of("uid=1000", "192.0.2.2:1") != source_of("pid=7,uid=1000"));
}
