#include "tools/numbers/expression.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp {
namespace {

constexpr int kDeepest = 100;  // parentheses within each other, signs in a row, ...

// Reads from left to right; each function takes what binds as tightly as it says.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Computed parse() {
    Rational value = sum();
    skip_spaces();
    if (at_ != text_.size()) fail("expected an operator");
    return {std::move(value), is_exact_};
  }

 private:
  // Counts the levels of recursion of the parser.
  class Depth {
   public:
    explicit Depth(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kDeepest) parser_.fail("it is nested too deeply");
    }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    ~Depth() { --parser_.depth_; }

   private:
    Parser& parser_;
  };

  [[noreturn]] void fail(const std::string& complaint) const {
    const std::string where = at_ < text_.size() ? " at character " + std::to_string(at_ + 1) : " at its end";
    throw NotAnExpression(complaint + where);
  }

  void skip_spaces() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  bool take(std::string_view sign) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }

  Rational sum() {
    const Depth depth(*this);
    Rational value = product();
    for (;;) {
      if (take("+")) {
        value = value + product();
      } else if (take("-") || take("\u2212")) {
        value = value - product();
      } else {
        return value;
      }
    }
  }

  bool takes_times() {
    skip_spaces();
    if (text_.substr(at_).starts_with("**")) return false;  // this is the sign of a power
    return take("*") || take("\u00d7") || take("\u00b7");
  }

  Rational product() {
    Rational value = with_sign();
    for (;;) {
      if (takes_times()) {
        value = value * with_sign();
      } else if (take("/") || take("\u00f7")) {
        value = value / with_sign();
      } else if (take("%")) {
        const Rational divisor = with_sign();
        value = value - divisor * (value / divisor).floor();
      } else {
        return value;
      }
    }
  }

  Rational with_sign() {
    const Depth depth(*this);
    if (take("-") || take("\u2212")) return -with_sign();
    if (take("+")) return with_sign();
    return power();
  }

  Rational power() {
    Rational base = value();
    if (take("^") || take("**")) return base.power(with_sign());
    return base;
  }

  Rational value() {
    skip_spaces();
    if (take("(")) {
      Rational inner = sum();
      if (!take(")")) fail("expected )");
      return inner;
    }
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') return number();
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) return function();
    fail("expected a number, a function or (");
  }

  void skip_digits() {
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  Rational number() {
    const std::size_t begin = at_;
    skip_digits();
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      skip_digits();
    }
    if (at_ - begin == 1 && text_[begin] == '.') fail("expected a digit");
    const std::size_t mantissa_end = at_;
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      const std::size_t exponent = at_;
      skip_digits();
      if (at_ == exponent) at_ = mantissa_end;
    }
    return Rational::parse(text_.substr(begin, at_ - begin));
  }

  Rational function() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    const std::string name(text_.substr(begin, at_ - begin));
    if (!take("(")) {
      at_ = begin;
      fail("\"" + name.substr(0, 20) + "\" is no number and no function");
    }
    std::vector<Rational> values;
    do {
      values.push_back(sum());
    } while (take(","));
    if (!take(")")) fail("expected , or )");
    return call(name, values, begin);
  }

  Rational call(const std::string& name, const std::vector<Rational>& values, std::size_t begin) {
    const auto expect = [&](bool right, const char* count) {
      if (right) return;
      at_ = begin;
      fail(name + "() takes " + count);
    };
    if (name == "min" || name == "max") {
      const auto [least, most] = std::ranges::minmax_element(values);
      return name == "min" ? *least : *most;
    }
    if (name == "round") {
      expect(values.size() <= 2, "a number, and how many digits behind the point");
      return values[0].rounded(values.size() == 2 ? places(values[1]) : 0);
    }
    const bool is_known = name == "abs" || name == "floor" || name == "ceil" || name == "sqrt";
    if (!is_known) {
      at_ = begin;
      fail("there is no function \"" + name.substr(0, 20) + "\"; there are abs, ceil, floor, max, min, round, sqrt");
    }
    expect(values.size() == 1, "one number");
    if (name == "abs") return values[0].is_negative() ? -values[0] : values[0];
    if (name == "floor") return values[0].floor();
    if (name == "ceil") return -(-values[0]).floor();
    auto root = values[0].square_root(kDigitsOfRoots);
    is_exact_ = is_exact_ && root.is_exact;
    return root.value;
  }

  int places(const Rational& number) const {
    constexpr int kMost = 1000;
    for (int i = -kMost; number.is_whole() && i <= kMost; ++i) {
      if (number == Rational(i)) return i;
    }
    throw NotComputable("round() takes a whole number of digits, from -1000 to 1000");
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool is_exact_ = true;
};

}  // namespace

Computed compute(std::string_view expression) { return Parser(expression).parse(); }

}  // namespace rkllm_mcp
