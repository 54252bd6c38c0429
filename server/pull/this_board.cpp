#include "pull/this_board.hpp"

#include "text/regular_file.hpp"

#include <unistd.h>

#include <cstdint>
#include <string_view>

namespace rkllm_mcp {

std::string chip_of_board(const std::filesystem::path& root) {
  // "radxa,rock-5b\0rockchip,rk3588\0": the last is the chip.
  constexpr std::size_t kLongest = 4096;
  std::string text = try_read_regular_file((root / "proc/device-tree/compatible").string(), kLongest).value_or("");
  while (!text.empty() && text.back() == '\0') text.pop_back();
  constexpr std::string_view kMaker = "rockchip,";
  const auto at = text.rfind(kMaker);
  if (at == std::string::npos) return {};
  std::string chip = text.substr(at + kMaker.size());
  chip = chip.substr(0, chip.find('\0'));
  return chip == "rk3588s" ? "rk3588" : chip;
}

BoardFacts facts_of_this_board() {
  BoardFacts facts;
  facts.chip = chip_of_board("/");
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) facts.memory = static_cast<std::int64_t>(pages) * page;
  return facts;
}

}  // namespace rkllm_mcp
