// Arithmetic as people write it, computed exactly: + - * / % ^ (or **), parentheses, numbers such as 1.5 and 2e-3, and
// abs, ceil, floor, max, min, round, sqrt. ^ binds more tightly than a sign before it, and to the right: -2^2 is -4. %
// has the sign of what it divides by, so that a = b*floor(a/b) + a%b.
#pragma once

#include "tools/numbers/rational.hpp"

#include <stdexcept>
#include <string_view>

namespace rkllm_mcp {

// The text is no expression.
class NotAnExpression : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Computed {
  Rational value;
  bool is_exact;  // false: a square root was rounded
};

inline constexpr int kDigitsOfRoots = 50;

// Throws NotAnExpression, NotComputable. Takes at most some tenths of a second for 1000 bytes.
Computed compute(std::string_view expression);

}  // namespace rkllm_mcp
