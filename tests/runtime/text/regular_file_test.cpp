#include "text/regular_file.hpp"

#include "support/catch.hpp"
#include "support/process.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

constexpr std::size_t kLargestSecret = std::size_t{1} << 20U;

// What the std::runtime_error says that `action` throws; empty if it throws none.
std::string complaint_about_file(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

std::string complaint_about_file(const std::string& path) {
  return complaint_about_file([&path] { read_regular_file(path, 1000); });
}

// The number that the next descriptor will have: greater if one was left open.
int next_descriptor() {
  const int next = ::dup(STDIN_FILENO);
  ::close(next);
  return next;
}

class SecretFile {
 public:
  SecretFile(const std::string& text, mode_t mode) : path(directory_ / "secret") {
    write_file(path, text);
    REQUIRE(::chmod(path.c_str(), mode) == 0);
  }
  std::string complaint() const {
    return complaint_about_file([this] { read_private_file(path); });
  }

 private:
  TemporaryDirectory directory_;

 public:
  const std::string path;
};

}  // namespace

TEST_CASE("a file is read whole, whatever its bytes, also by a link to it") {
  const TemporaryDirectory directory;
  const std::string path = directory / "gr\xC3\xBC\xC3\x9F";
  const std::string text = std::string("a\0\r\n\xFF", 5) + std::string(100'000, 'x') + "\n";
  write_file(path, text);
  CHECK(read_regular_file(path, text.size()) == text);
  CHECK(RegularFile(path).status().st_size == static_cast<off_t>(text.size()));
  std::filesystem::create_symlink(path, directory / "link");
  CHECK(try_read_regular_file(directory / "link", text.size()) == text);
  write_file(directory / "empty", "");
  CHECK(try_read_regular_file(directory / "empty", 0) == "");
}

TEST_CASE("a file of as many bytes as may be is read, one more is an error") {
  const TemporaryDirectory directory;
  const std::string path = directory / "file";
  for (const std::size_t most : {std::size_t{1}, std::size_t{4095}, std::size_t{4096}, std::size_t{10'000}}) {
    CAPTURE(most);
    write_file(path, std::string(most, 'x'));
    CHECK(read_regular_file(path, most).size() == most);
    write_file(path, std::string(most + 1, 'x'));
    CHECK(complaint_about_file([&] { read_regular_file(path, most); }) == path + ": is too large");
    CHECK_FALSE(try_read_regular_file(path, most));
  }
}

TEST_CASE("a file that there is not is an error that names the path and the reason") {
  const TemporaryDirectory directory;
  const std::string path = directory / "missing";
  CHECK(complaint_about_file(path) == path + ": No such file or directory");
  CHECK_FALSE(try_read_regular_file(path, 1000));
  CHECK(complaint_about_file("") == ": No such file or directory");
}

TEST_CASE("what is no file is refused without waiting, and not kept open") {
  const TemporaryDirectory directory;
  const std::string pipe = directory / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int next = next_descriptor();
  for (const std::string& path : {pipe, directory.path(), std::string("/dev/null"), std::string("/dev/zero")}) {
    CHECK(complaint_about_file(path) == path + ": not a file");
    CHECK_FALSE(try_read_regular_file(path, 1000));
  }
  CHECK(next_descriptor() == next);
}

TEST_CASE("a file is closed by the end of its reader") {
  const TemporaryDirectory directory;
  write_file(directory / "file", "text");
  const int next = next_descriptor();
  {
    const RegularFile file(directory / "file");
    CHECK(next_descriptor() != next);
  }
  CHECK(next_descriptor() == next);
}

TEST_CASE("a file of the kernel's, which has no size, is read whole, and its error is one") {
  const std::string limits = read_regular_file("/proc/self/limits", 100'000);
  CHECK(limits.find("Max open files") != std::string::npos);
  CHECK(complaint_about_file("/proc/self/mem") == "/proc/self/mem: Input/output error");
  CHECK_FALSE(try_read_regular_file("/proc/self/mem", 1000));
}

TEST_CASE("a secret is read from a file that nobody else may open") {
  CHECK(read_private_file(SecretFile("secret\n", 0600).path) == "secret\n");
  CHECK(read_private_file(SecretFile("secret\n", 0400).path) == "secret\n");
  CHECK(read_private_file(SecretFile("", 0700).path).empty());
}

TEST_CASE("a secret in a file that is another user's, or open to others in whichever way, is not read, and not told") {
  constexpr uid_t kNobody = 65534;
  if (::geteuid() == 0) {  // who else could give a file away?
    const SecretFile given("secret", 0600);
    REQUIRE(::chown(given.path.c_str(), kNobody, static_cast<gid_t>(-1)) == 0);
    CHECK(given.complaint() == given.path + ": belongs to another user");
  }
  for (const mode_t open : {0040U, 0020U, 0010U, 0004U, 0002U, 0001U}) {
    CAPTURE(open);
    const SecretFile file("secret", 0600U | open);
    CHECK(file.complaint() == file.path + ": is open to other users; close it with chmod 600");
  }
  const std::string passwords = "/etc/passwd";  // is root's, and open to all
  CHECK(complaint_about_file([&] { read_private_file(passwords); }) ==
        passwords + ": is open to other users; close it with chmod 600");
}

TEST_CASE("a secret has a largest size, and is in a file like others") {
  CHECK(read_private_file(SecretFile(std::string(kLargestSecret, 'x'), 0600).path).size() == kLargestSecret);
  const SecretFile larger(std::string(kLargestSecret + 1, 'x'), 0600);
  CHECK(larger.complaint() == larger.path + ": is too large");
  CHECK(complaint_about_file([] { read_private_file("/dev/null"); }) == "/dev/null: not a file");
}
