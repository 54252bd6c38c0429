// Variables by which a service manager speaks to the program that it starts.
#pragma once

#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

namespace rkllm_mcp {

// Takes a variable out of the environment, so that children do not get it, and returns its value; empty if there is
// none. To be called before there are threads.
inline std::string take_variable(const char* name) {
  const char* const value = std::getenv(name);
  std::string taken = value == nullptr ? "" : value;
  ::unsetenv(name);
  return taken;
}

inline std::optional<std::uint64_t> to_number(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace rkllm_mcp
