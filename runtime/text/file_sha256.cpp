#include "text/file_sha256.hpp"

#include <cstddef>
#include <fstream>
#include <vector>

namespace rkllm_mcp {

std::optional<Sha256> sha256_of_file(const std::string& path, const std::function<bool()>& goes_on) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> piece(std::size_t{1} << 20U);
  Sha256Sum sum;
  while (file) {
    if (!goes_on()) return std::nullopt;
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    sum.add({piece.data(), static_cast<std::size_t>(file.gcount())});
  }
  if (!file.eof()) return std::nullopt;
  return sum.finish();
}

}  // namespace rkllm_mcp
