#include "support/holdings.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace rkllm_mcp::test {
namespace {

std::size_t entries(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

std::size_t resident_kb(const std::filesystem::path& process) {
  std::ifstream status(process / "status");
  std::size_t kb = 0;
  for (std::string word; status >> word;) {
    if (word == "VmRSS:") status >> kb;
  }
  return kb;
}

void add(Holdings& holdings, pid_t id) {
  const std::filesystem::path process = "/proc/" + std::to_string(id);
  holdings.processes.insert(id);
  holdings.descriptors += entries(process / "fd");
  holdings.threads += entries(process / "task");
  holdings.resident_kb += resident_kb(process);
  for (const auto& thread : std::filesystem::directory_iterator(process / "task")) {
    std::ifstream children(thread.path() / "children");
    for (pid_t child = 0; children >> child;) add(holdings, child);
  }
}

}  // namespace

Holdings holdings_of(pid_t process) {
  Holdings holdings;
  add(holdings, process);
  return holdings;
}

}  // namespace rkllm_mcp::test
