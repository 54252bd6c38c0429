#include "worker/process_title.hpp"

#include "support/catch.hpp"

#include <pthread.h>

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::test {
namespace {

// Arguments as Linux lays them out: one behind the other, and then the environment.
class Memory {
 public:
  std::span<char> arguments() {
    std::array<char*, 3> argv{bytes_.data(), bytes_.data() + 10, bytes_.data() + 15};
    return ProcessTitle::memory_of(static_cast<int>(argv.size()), argv.data());
  }
  std::string_view behind() const { return std::string_view(bytes_).substr(21); }
  std::string_view text() const { return bytes_.data(); }
  std::string_view arguments_text() const { return std::string_view(bytes_).substr(0, 21); }

 private:
  std::string bytes_ = std::string("rkllm-mcp\0work\0--all\0PATH=/bin", 30);
};

std::string name_of_thread() {
  std::array<char, 17> name{};
  ::pthread_getname_np(::pthread_self(), name.data(), name.size());
  return name.data();
}

// The test's own name comes back.
class NameKept {
 public:
  NameKept() : name_(name_of_thread()) {}
  ~NameKept() { ::pthread_setname_np(::pthread_self(), name_.c_str()); }
  NameKept(const NameKept&) = delete;
  NameKept& operator=(const NameKept&) = delete;

 private:
  const std::string name_;
};

}  // namespace

TEST_CASE("a title takes the room of the arguments, and what follows them stays as it is") {
  const NameKept kept;
  Memory memory;
  REQUIRE(memory.arguments().size() == 21);
  ProcessTitle title(memory.arguments());
  title.show("rkllm-mcp: a-model-with-a-long-name");
  CHECK(memory.text() == "rkllm-mcp: a-model-w");
  CHECK(memory.behind() == "PATH=/bin");
  CHECK(name_of_thread() == "rkllm-mcp: a-mo");
  title.show("short");
  CHECK(memory.arguments_text() == std::string("short") + std::string(16, '\0'));
  CHECK(memory.behind() == "PATH=/bin");
}

TEST_CASE("a title is one line of whole characters") {
  const NameKept kept;
  Memory memory;
  ProcessTitle title(memory.arguments());
  title.show("rkllm-mcp: a\nb\x1b[2J");
  CHECK(memory.text() == "rkllm-mcp: a b [2J");
  title.show("rkllm-mcp: 0123456 số");  // the last character would begin in the last byte but one
  CHECK(memory.text() == "rkllm-mcp: 0123456 s");
  title.show("rkllm-mcp: 012345 số");
  CHECK(memory.text() == "rkllm-mcp: 012345 s");
}

TEST_CASE("arguments that stand elsewhere are left alone, and without arguments nothing is written") {
  const NameKept kept;
  std::string one("one");
  std::string other("other");
  std::array<char*, 2> apart{one.data(), other.data()};
  CHECK(ProcessTitle::memory_of(2, apart.data()).size() == 4);
  CHECK(ProcessTitle::memory_of(0, nullptr).empty());
  ProcessTitle({}).show("name");
  CHECK(name_of_thread() == "name");
}

}  // namespace rkllm_mcp::test
