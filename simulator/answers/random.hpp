// Hashes and pseudo-random numbers that are the same on every machine. Nothing here is random: the simulator's text is
// a function of what it was asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace rkllm_mcp::sim {

inline constexpr std::uint64_t kFnvOffset = 0xcbf29ce484222325U;

// 64-bit FNV-1a; pass the previous result to continue.
inline std::uint64_t fnv1a(std::string_view bytes, std::uint64_t hash = kFnvOffset) {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  return hash;
}

// Spreads the bits of `value` over the whole word.
inline constexpr std::uint64_t scramble(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

inline constexpr std::uint64_t mix(std::uint64_t left, std::uint64_t right) {
  return scramble(left + 0x9e3779b97f4a7c15U + scramble(right));
}

// The bytes of plain values, for hashing.
template <class T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

// SplitMix64.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() { return scramble(state_ += 0x9e3779b97f4a7c15U); }
  // 0 <= result < bound; bound > 0.
  constexpr std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }

 private:
  std::uint64_t state_;
};

}  // namespace rkllm_mcp::sim
