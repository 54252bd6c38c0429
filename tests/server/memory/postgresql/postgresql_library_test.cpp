// PostgreSQL's client library, loaded while the program runs. No server is needed here.
#include "memory/postgresql/postgresql_library.hpp"

#include "memory/store.hpp"
#include "support/catch.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::memory;

namespace {

// How a process ends that asks for the library and can open no file: 0 if it was told what to install.
int end_without_library() {
  const rlimit nothing{0, 0};
  if (::setrlimit(RLIMIT_NOFILE, &nothing) != 0) return 2;
  try {
    const postgresql::Library library;
  } catch (const StoreError& error) {
    const std::string text = error.what();
    return error.kind() == StoreError::Kind::kUnavailable && text.find("apt-get install libpq5") != std::string::npos
               ? 0
               : 3;
  }
  return 4;
}

}  // namespace

// One case, since the library stays loaded.
TEST_CASE(
    "where PostgreSQL's client library is missing, what to install is said, and where it is not, it can be called") {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(end_without_library());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);

  const postgresql::Library library;
  char* error = nullptr;
  PQconninfoOption* const options = library.parse_address("postgresql://me@example.org:5433/memory", &error);
  CHECK(error == nullptr);
  REQUIRE(options != nullptr);
  std::string host;
  std::string port;
  for (const PQconninfoOption* each = options; each->keyword != nullptr; ++each) {
    if (std::string(each->keyword) == "host") host = each->val;
    if (std::string(each->keyword) == "port") port = each->val;
  }
  library.free_options(options);
  CHECK(host == "example.org");
  CHECK(port == "5433");
  CHECK(library.parse_address("postgresql://h/x?what=1", &error) == nullptr);
  REQUIRE(error != nullptr);
  CHECK_THAT(std::string(error), test::has_text("what"));
  library.free_memory(error);

  const postgresql::Library again;
  CHECK(again.connect_start == library.connect_start);
  CHECK(again.clear == library.clear);
}
