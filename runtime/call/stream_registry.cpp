#include "call/stream_registry.hpp"

#include <openssl/rand.h>

#include <array>
#include <stdexcept>

namespace rkllm_mcp {

std::string new_stream_id() {
  constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
  constexpr std::size_t kLength = 24;
  constexpr unsigned kFair = 256 - 256 % kAlphabet.size();  // bytes from here on would favour the first letters
  std::string id;
  while (id.size() < kLength) {
    std::array<unsigned char, 64> bytes{};
    if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
      throw std::runtime_error("no secure random source");
    for (const unsigned byte : bytes) {
      if (byte < kFair && id.size() < kLength) id.push_back(kAlphabet[byte % kAlphabet.size()]);
    }
  }
  return id;
}

}  // namespace rkllm_mcp
