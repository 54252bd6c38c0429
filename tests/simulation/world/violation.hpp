// An error that a schedule has found, and the line of the simulation that reports it.
#pragma once

#include <string>
#include <utility>

namespace rkllm_mcp::simulation {

// A line of the sources. As a default argument, here() is the line of whoever calls.
struct Place {
  const char* file = "";
  int line = 0;

  static constexpr Place here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
};

// The schedule ends with it.
struct Violation {
  explicit Violation(std::string text, Place complains = Place::here()) : what(std::move(text)), place(complains) {}

  std::string what;
  Place place;  // a test asks of each such line whether it has ever found anything (see invariants_test.cpp)
};

}  // namespace rkllm_mcp::simulation
