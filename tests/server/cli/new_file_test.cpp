#include "cli/talk/new_file.hpp"

#include "support/catch.hpp"
#include "support/process.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

using namespace rkllm_mcp;
using test::has_text;
using test::read_file;

TEST_CASE("a new file has the whole text, and what is there already is left as it is") {
  const test::TemporaryDirectory folder;
  const std::string path = folder / "new";
  write_new_file(path, "one");
  CHECK(read_file(path) == "one");
  CHECK_THROWS_WITH(write_new_file(path, "two"), path + " exists; name another file");
  CHECK(read_file(path) == "one");
  // A link that leads nowhere is there, too: what it leads to is not made.
  REQUIRE(::symlink((folder / "elsewhere").c_str(), (folder / "link").c_str()) == 0);
  CHECK_THROWS_WITH(write_new_file(folder / "link", "x"), has_text("exists"));
  CHECK_FALSE(std::filesystem::exists(folder / "elsewhere"));
  CHECK_THROWS_WITH(write_new_file(folder / "nowhere/new", "x"), has_text("cannot be written: No such file"));
}

TEST_CASE("where the disk is full no half file stays, so that the same name can be tried again") {
  const test::TemporaryDirectory folder;
  const std::string path = folder / "new";
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 1000;
  ::setrlimit(RLIMIT_FSIZE, &small);
  CHECK_THROWS_WITH(write_new_file(path, std::string(5000, 'x')), has_text(path + " cannot be written: "));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK_FALSE(std::filesystem::exists(path));
  write_new_file(path, "again");
  CHECK(read_file(path) == "again");
}
