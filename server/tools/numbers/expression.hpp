// Arithmetic as people write it, computed exactly: + - * / % ^ (or **), parentheses, numbers such as 1.5 and 2e-3, and
// abs, ceil, floor, max, min, round, sqrt. ^ binds more tightly than a sign before it, and to the right: -2^2 is -4. %
// has the sign of what it divides by, so that a = b*floor(a/b) + a%b.
#pragma once

#include "tools/numbers/rational.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// The text is no expression. `position` is the byte, counted from 0, at which that shows.
class NotAnExpression : public std::runtime_error {
 public:
  NotAnExpression(const std::string& message, std::size_t position)
      : std::runtime_error(message), position_(position) {}
  std::size_t position() const { return position_; }

 private:
  std::size_t position_;
};

struct Computed {
  Rational value;
  bool is_exact;  // false: a square root was rounded
};

inline constexpr int kDigitsOfRoots = 50;

// Throws NotAnExpression, NotComputable. Takes at most some tenths of a second for 1000 bytes.
Computed compute(std::string_view expression);

}  // namespace rkllm_mcp
