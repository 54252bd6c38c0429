// Bytes that nobody can guess, for ids, keys and masks: the one source of randomness. Any thread.
#pragma once

#include <openssl/rand.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rkllm_mcp {

#ifdef RKLLM_MCP_SIMULATION
void fill_with_simulated(unsigned char* bytes, std::size_t count);  // a schedule's, the same each time
#endif

// Throws std::runtime_error if the system gives none.
template <std::size_t kCount>
std::array<unsigned char, kCount> random_bytes() {
  std::array<unsigned char, kCount> bytes{};
#ifdef RKLLM_MCP_SIMULATION
  fill_with_simulated(bytes.data(), bytes.size());
#else
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    throw std::runtime_error("no secure random source");
  }
#endif
  return bytes;
}

// `prefix` and 24 characters of a-z0-9, over 120 bits. Throws as random_bytes().
inline std::string new_id(std::string_view prefix = {}) {
  constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
  constexpr std::size_t kLength = 24;
  constexpr unsigned kFair = 256 - 256 % kAlphabet.size();  // bytes from here on would favour the first letters
  std::string id(prefix);
  while (id.size() < prefix.size() + kLength) {
    for (const unsigned byte : random_bytes<2 * kLength>()) {
      if (byte < kFair && id.size() < prefix.size() + kLength) id.push_back(kAlphabet[byte % kAlphabet.size()]);
    }
  }
  return id;
}

}  // namespace rkllm_mcp
