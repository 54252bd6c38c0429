#include "model/prompt_cache_file.hpp"

#include "answers/random.hpp"

#include <fstream>
#include <iterator>
#include <string>

namespace rkllm_mcp::sim {
namespace {

std::string header(std::string_view model) { return "rkllm simulator prompt cache 1\n" + std::string(model) + "\n"; }

}  // namespace

void write_prompt_cache(const std::filesystem::path& path, std::string_view model, std::span<const Cell> cells) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << header(model) << bytes_of(cells);
}

std::variant<std::vector<Cell>, CacheFileFault> read_prompt_cache(const std::filesystem::path& path,
                                                                  std::string_view model) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return CacheFileFault::kMissing;
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.empty()) return CacheFileFault::kMissing;
  const std::string expected = header(model);
  if (!bytes.starts_with(expected) || (bytes.size() - expected.size()) % sizeof(Cell) != 0) {
    return CacheFileFault::kForeign;
  }
  std::vector<Cell> cells((bytes.size() - expected.size()) / sizeof(Cell));
  bytes.copy(reinterpret_cast<char*>(cells.data()), cells.size() * sizeof(Cell), expected.size());
  return cells;
}

}  // namespace rkllm_mcp::sim
