// Code and texts that are written once for several versions of an interface.
//
// Generated code describes each version by a struct Abi: its `version`, the `versions` that there are, from old to new,
// and the types of this version by name. What is the same in all of them is a template over Abi, or over the type.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

namespace rkllm_mcp {

// Whether T, const or not, is one of these types: those that a struct has in the versions of an interface.
template <class T, class... Types>
concept OneOf = (std::same_as<std::remove_const_t<T>, Types> || ...);

constexpr std::size_t position_of(std::string_view version, std::span<const std::string_view> versions) {
  return static_cast<std::size_t>(std::find(versions.begin(), versions.end(), version) - versions.begin());
}

// Whether this version is `version` or a later one.
template <class Abi>
constexpr bool from_version(std::string_view version) {
  return position_of(Abi::version, Abi::versions) >= position_of(version, Abi::versions);
}

// Whether this version is `version` or an earlier one.
template <class Abi>
constexpr bool up_to_version(std::string_view version) {
  return position_of(Abi::version, Abi::versions) <= position_of(version, Abi::versions);
}

// A piece of a text, and the first and the last version that has it; where none is named, there is no such bound.
struct VersionedText {
  std::string_view text;
  std::string_view since{};
  std::string_view until{};
};

template <class Abi>
constexpr bool is_of_version(const VersionedText& piece) {
  return (piece.since.empty() || from_version<Abi>(piece.since)) &&
         (piece.until.empty() || up_to_version<Abi>(piece.until));
}

template <class Abi, const auto& kPieces>
constexpr std::size_t joined_size() {
  std::size_t size = 0;
  for (const VersionedText& piece : kPieces) size += is_of_version<Abi>(piece) ? piece.text.size() : 0;
  return size;
}

template <class Abi, const auto& kPieces>
constexpr auto joined() {
  std::array<char, joined_size<Abi, kPieces>()> text{};
  auto end = text.begin();
  for (const VersionedText& piece : kPieces) {
    if (is_of_version<Abi>(piece)) end = std::copy(piece.text.begin(), piece.text.end(), end);
  }
  return text;
}

template <class Abi, const auto& kPieces>
inline constexpr auto kJoined = joined<Abi, kPieces>();

// The pieces that this version has, joined by the compiler. `kPieces` is an array of VersionedText.
template <class Abi, const auto& kPieces>
inline constexpr std::string_view text_of{kJoined<Abi, kPieces>.data(), kJoined<Abi, kPieces>.size()};

}  // namespace rkllm_mcp
