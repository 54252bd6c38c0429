#include "process/descriptor.hpp"

#include "support/catch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <vector>

namespace rkllm_mcp {
namespace {

bool is_closed_on_exec(int number) { return (::fcntl(number, F_GETFD) & FD_CLOEXEC) != 0; }

}  // namespace

TEST_CASE("descriptors from one on are closed on exec, also where the kernel has no call for that") {
  const auto close_from = GENERATE(&close_on_exec_from, &close_on_exec_one_by_one);
  std::vector<int> numbers;
  for (int each = 0; each < 300; ++each) numbers.push_back(::dup(STDERR_FILENO));  // more than are listed at once
  REQUIRE(numbers.back() >= 0);
  const int first = numbers[1];
  close_from(first);
  CHECK_FALSE(is_closed_on_exec(numbers[0]));
  int open_on_exec = 0;
  for (const int number : numbers) open_on_exec += number >= first && !is_closed_on_exec(number) ? 1 : 0;
  CHECK(open_on_exec == 0);
  CHECK_FALSE(is_closed_on_exec(STDERR_FILENO));
  for (const int number : numbers) ::close(number);
}

}  // namespace rkllm_mcp
