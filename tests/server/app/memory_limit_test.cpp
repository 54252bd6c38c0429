#include "app/memory_limit.hpp"

#include "support/catch.hpp"
#include "support/process.hpp"

#include <filesystem>
#include <limits>
#include <string>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

struct Machine {
  explicit Machine(const std::string& groups) { write("proc/self/cgroup", groups); }

  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root / file).parent_path());
    test::write_file(root / file, text);
  }

  test::TemporaryDirectory root;
};

}  // namespace

TEST_CASE("the least that the control groups of a service allow is what counts") {
  const Machine machine("1:name=systemd:/elsewhere\n0::/system.slice/rkllm-mcp.service\n");
  CHECK(memory_of_control_groups(machine.root.path()) == kUnlimited);
  machine.write("sys/fs/cgroup/system.slice/memory.max", "max\n");
  machine.write("sys/fs/cgroup/system.slice/rkllm-mcp.service/memory.max", "536870912\n");
  machine.write("sys/fs/cgroup/elsewhere/memory.max", "1\n");
  CHECK(memory_of_control_groups(machine.root.path()) == 536870912);
  machine.write("sys/fs/cgroup/system.slice/memory.max", "268435456\n");
  CHECK(memory_of_control_groups(machine.root.path()) == 268435456);
}

TEST_CASE("a container has its limit in the topmost control group that it sees") {
  const Machine machine("0::/\n");
  machine.write("sys/fs/cgroup/memory.max", "1073741824\n");
  CHECK(memory_of_control_groups(machine.root.path()) == 1073741824);
}

}  // namespace rkllm_mcp
