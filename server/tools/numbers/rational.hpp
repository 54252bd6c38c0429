// An exact number: a fraction of two whole numbers of any length up to a limit, by OpenSSL's BIGNUM. Only rounded(),
// decimal() and square_root() round; the last two tell whether they did.
#pragma once

#include <openssl/bn.h>

#include <compare>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// What cannot be computed: a division by zero, a number that gets too long. The message is for a person.
class NotComputable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Rational {
 public:
  static constexpr int kMostBits = 8192;  // of numerator and denominator each: about 2400 digits

  Rational() : Rational(0) {}
  explicit Rational(long value);
  Rational(const Rational& other);
  Rational(Rational&&) noexcept = default;
  Rational& operator=(Rational other) noexcept;

  // "12", "0.5", "1e-3", "1.5E10": digits, perhaps with a point and an exponent of at most 2000. Throws NotComputable.
  static Rational parse(std::string_view decimal);

  friend Rational operator+(const Rational& a, const Rational& b);
  friend Rational operator-(const Rational& a, const Rational& b);
  friend Rational operator*(const Rational& a, const Rational& b);
  friend Rational operator/(const Rational& a, const Rational& b);
  Rational operator-() const;
  std::strong_ordering operator<=>(const Rational& other) const;
  bool operator==(const Rational& other) const { return (*this <=> other) == std::strong_ordering::equal; }

  Rational power(const Rational& exponent) const;  // a whole number, up to 10000 in either direction
  Rational floor() const;
  Rational rounded(int places) const;  // to so many digits behind the point; halves away from zero
  bool is_whole() const;
  bool is_negative() const;
  // The square root; exact if there is an exact one, else with so many digits.
  struct Root;
  Root square_root(int digits) const;

  struct Decimal {
    std::string text;
    bool is_exact;
  };
  // Exact if the number has an end as a decimal; else so many digits, rounded.
  Decimal decimal(int digits) const;
  std::string fraction() const;  // "1/3"

 private:
  struct Free {
    void operator()(BIGNUM* number) const { BN_free(number); }
  };
  using Number = std::unique_ptr<BIGNUM, Free>;

  Rational(Number numerator, Number denominator);  // in lowest terms afterwards
  static Number make(unsigned long value);
  static Number copy_of(const Number& number);
  static Number power_of_ten(int exponent);
  static std::string digits_of(const Number& number);

  Number numerator_;    // with the sign
  Number denominator_;  // above zero
};

struct Rational::Root {
  Rational value;
  bool is_exact;
};

}  // namespace rkllm_mcp
