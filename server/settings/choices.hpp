// Settings that are one word out of a few: the enumerations and their words, in the same order.
#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string_view>

namespace rkllm_mcp {

enum class StdioUse { kAuto, kOn, kOff };
enum class Fallback { kNone, kSimulator };
enum class Isolation { kProcess, kThread };
enum class Workers { kPerHandle, kShared };
enum class MemoryWhenFull { kRefuse, kForget };
enum class LogLevel { kTrace, kDebug, kInfo, kWarning, kError, kOff };
enum class LogFormat { kText, kJson };

// The words of an enumeration; the index is the enumerator's value.
template <typename Choice>
inline constexpr std::array<std::string_view, 0> kWords{};
template <>
inline constexpr std::array<std::string_view, 3> kWords<StdioUse>{"auto", "on", "off"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<Fallback>{"none", "simulator"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<Isolation>{"process", "thread"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<Workers>{"per_handle", "shared"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<MemoryWhenFull>{"refuse", "forget"};
template <>
inline constexpr std::array<std::string_view, 6> kWords<LogLevel>{"trace", "debug", "info", "warning", "error", "off"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<LogFormat>{"text", "json"};

// The sets of tools that mcp.tools chooses from.
inline constexpr std::array<std::string_view, 4> kToolSets{"chat", "tools", "api", "memory"};

// The enumerator of a word, for defaults: a wrong word stops the compiler.
template <typename Choice>
consteval Choice choice(std::string_view word) {
  for (std::size_t i = 0; i < kWords<Choice>.size(); ++i) {
    if (kWords<Choice>[i] == word) return static_cast<Choice>(i);
  }
  throw std::invalid_argument("this default is none of the setting's words");
}

}  // namespace rkllm_mcp
