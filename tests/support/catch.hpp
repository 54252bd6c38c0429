// Catch2, whichever of its two generations the distribution ships: 2.13 (Debian 12, Ubuntu 22.04) or 3 (later ones).
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <string>

namespace rkllm_mcp::test {

// For CHECK_THAT and CHECK_THROWS_WITH: the text has `part` in it. The generations name this matcher differently.
inline auto has_text(const std::string& part) {
#if __has_include(<catch2/catch_all.hpp>)
  return Catch::Matchers::ContainsSubstring(part);
#else
  return Catch::Matchers::Contains(part);
#endif
}

}  // namespace rkllm_mcp::test
