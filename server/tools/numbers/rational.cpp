#include "tools/numbers/rational.hpp"

#include <algorithm>
#include <charconv>
#include <new>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr int kMostExponent = 2000;

struct FreeContext {
  void operator()(BN_CTX* context) const { BN_CTX_free(context); }
};

// OpenSSL's room for intermediate values, which one thread uses at a time: each has its own, until it ends.
BN_CTX* context() {
  thread_local const std::unique_ptr<BN_CTX, FreeContext> own(BN_CTX_new());
  if (!own) throw std::bad_alloc();
  return own.get();
}

// OpenSSL's functions fail for want of memory only, as they are used here.
void demand(int success) {
  if (success != 1) throw std::bad_alloc();
}

[[noreturn]] void too_long() { throw NotComputable("a number gets longer than 2400 digits"); }

}  // namespace

Rational::Number Rational::make(unsigned long value) {
  Number number(BN_new());
  if (!number) throw std::bad_alloc();
  demand(BN_set_word(number.get(), value));
  return number;
}

Rational::Number Rational::copy_of(const Number& number) {
  Number copy(BN_dup(number.get()));
  if (!copy) throw std::bad_alloc();
  return copy;
}

Rational::Number Rational::power_of_ten(int exponent) {
  Number power = make(1);
  for (int i = 0; i < exponent; ++i) demand(BN_mul_word(power.get(), 10));
  return power;
}

std::string Rational::digits_of(const Number& number) {
  char* const text = BN_bn2dec(number.get());
  if (text == nullptr) throw std::bad_alloc();
  std::string digits(text);
  OPENSSL_free(text);
  return digits;
}

Rational::Rational(long value)
    : numerator_(make(value < 0 ? 0 - static_cast<unsigned long>(value) : static_cast<unsigned long>(value))),
      denominator_(make(1)) {
  BN_set_negative(numerator_.get(), value < 0 ? 1 : 0);
}

Rational::Rational(const Rational& other)
    : numerator_(copy_of(other.numerator_)), denominator_(copy_of(other.denominator_)) {}

Rational& Rational::operator=(Rational other) noexcept {
  std::swap(numerator_, other.numerator_);
  std::swap(denominator_, other.denominator_);
  return *this;
}

Rational::Rational(Number numerator, Number denominator)
    : numerator_(std::move(numerator)), denominator_(std::move(denominator)) {
  if (BN_is_zero(denominator_.get())) throw NotComputable("division by zero");
  if (BN_is_negative(denominator_.get())) {
    BN_set_negative(denominator_.get(), 0);
    if (!BN_is_zero(numerator_.get())) BN_set_negative(numerator_.get(), BN_is_negative(numerator_.get()) ? 0 : 1);
  }
  // Twice the limit is what one operation can make of two numbers within it.
  constexpr int kOfOneOperation = 2 * kMostBits + 64;
  if (BN_num_bits(numerator_.get()) > kOfOneOperation || BN_num_bits(denominator_.get()) > kOfOneOperation) too_long();
  if (!BN_is_one(denominator_.get())) {
    const Number divisor = make(0);
    demand(BN_gcd(divisor.get(), numerator_.get(), denominator_.get(), context()));
    demand(BN_div(numerator_.get(), nullptr, numerator_.get(), divisor.get(), context()));
    demand(BN_div(denominator_.get(), nullptr, denominator_.get(), divisor.get(), context()));
  }
  if (BN_num_bits(numerator_.get()) > kMostBits || BN_num_bits(denominator_.get()) > kMostBits) too_long();
}

Rational Rational::parse(std::string_view decimal) {
  const auto mark = std::min(decimal.find_first_of("eE"), decimal.size());
  int exponent = 0;
  if (mark != decimal.size()) {
    auto text = decimal.substr(mark + 1);
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (error != std::errc() || end != text.data() + text.size()) exponent = kMostExponent + 1;
    // Beyond twice the limit it is too large, whatever digits there are behind the point: they are subtracted below.
    exponent = std::clamp(exponent, -2 * kMostExponent - 1, 2 * kMostExponent + 1);
  }
  std::string digits(decimal.substr(0, mark));
  if (const auto point = digits.find('.'); point != std::string::npos) {
    digits.erase(point, 1);
    exponent -= static_cast<int>(std::min<std::size_t>(digits.size() - point, 2 * kMostExponent));
  }
  if (digits.size() > kMostExponent || exponent > kMostExponent || exponent < -kMostExponent) {
    throw NotComputable("a number has more than 2000 digits, or an exponent beyond 2000");
  }
  BIGNUM* read = nullptr;
  const auto taken = BN_dec2bn(&read, digits.c_str());
  Number numerator(read);
  if (taken == 0 || static_cast<std::size_t>(taken) != digits.size()) throw NotComputable("no number");
  const Number power = power_of_ten(exponent < 0 ? -exponent : exponent);
  if (exponent < 0) return Rational(std::move(numerator), copy_of(power));
  demand(BN_mul(numerator.get(), numerator.get(), power.get(), context()));
  return Rational(std::move(numerator), make(1));
}

Rational operator+(const Rational& a, const Rational& b) {
  auto left = Rational::make(0);
  const auto right = Rational::make(0);
  auto denominator = Rational::make(0);
  demand(BN_mul(left.get(), a.numerator_.get(), b.denominator_.get(), context()));
  demand(BN_mul(right.get(), b.numerator_.get(), a.denominator_.get(), context()));
  demand(BN_add(left.get(), left.get(), right.get()));
  demand(BN_mul(denominator.get(), a.denominator_.get(), b.denominator_.get(), context()));
  return {std::move(left), std::move(denominator)};
}

Rational operator-(const Rational& a, const Rational& b) { return a + -b; }

Rational operator*(const Rational& a, const Rational& b) {
  auto numerator = Rational::make(0);
  auto denominator = Rational::make(0);
  demand(BN_mul(numerator.get(), a.numerator_.get(), b.numerator_.get(), context()));
  demand(BN_mul(denominator.get(), a.denominator_.get(), b.denominator_.get(), context()));
  return {std::move(numerator), std::move(denominator)};
}

Rational operator/(const Rational& a, const Rational& b) {
  auto numerator = Rational::make(0);
  auto denominator = Rational::make(0);
  demand(BN_mul(numerator.get(), a.numerator_.get(), b.denominator_.get(), context()));
  demand(BN_mul(denominator.get(), a.denominator_.get(), b.numerator_.get(), context()));
  return {std::move(numerator), std::move(denominator)};
}

Rational Rational::operator-() const {
  Rational negated(*this);
  if (!BN_is_zero(numerator_.get())) {
    BN_set_negative(negated.numerator_.get(), BN_is_negative(numerator_.get()) ? 0 : 1);
  }
  return negated;
}

std::strong_ordering Rational::operator<=>(const Rational& other) const {
  const auto left = make(0);
  const auto right = make(0);
  demand(BN_mul(left.get(), numerator_.get(), other.denominator_.get(), context()));
  demand(BN_mul(right.get(), other.numerator_.get(), denominator_.get(), context()));
  return BN_cmp(left.get(), right.get()) <=> 0;
}

bool Rational::is_whole() const { return BN_is_one(denominator_.get()); }
bool Rational::is_negative() const { return BN_is_negative(numerator_.get()); }

Rational Rational::power(const Rational& exponent) const {
  constexpr BN_ULONG kMost = 10'000;
  if (!exponent.is_whole()) throw NotComputable("an exponent is no whole number; for square roots there is sqrt()");
  const Number steps = copy_of(exponent.numerator_);
  BN_set_negative(steps.get(), 0);
  if (BN_num_bits(steps.get()) > 16 || BN_get_word(steps.get()) > kMost) {
    throw NotComputable("an exponent is beyond 10000");
  }
  const auto count = static_cast<int>(BN_get_word(steps.get()));
  const bool fits = BN_num_bits(numerator_.get()) <= 1 || (BN_num_bits(numerator_.get()) - 1) * count <= kMostBits;
  const bool fits_below =
      BN_num_bits(denominator_.get()) <= 1 || (BN_num_bits(denominator_.get()) - 1) * count <= kMostBits;
  if (!fits || !fits_below) too_long();
  auto numerator = make(0);
  auto denominator = make(0);
  demand(BN_exp(numerator.get(), numerator_.get(), steps.get(), context()));
  demand(BN_exp(denominator.get(), denominator_.get(), steps.get(), context()));
  if (exponent.is_negative()) std::swap(numerator, denominator);
  return {std::move(numerator), std::move(denominator)};
}

Rational Rational::floor() const {
  auto quotient = make(0);
  const auto rest = make(0);
  demand(BN_div(quotient.get(), rest.get(), numerator_.get(), denominator_.get(), context()));
  if (BN_is_negative(rest.get())) demand(BN_sub_word(quotient.get(), 1));  // BN_div cuts towards zero
  return {std::move(quotient), make(1)};
}

Rational Rational::rounded(int places) const {
  const Rational scale(power_of_ten(places < 0 ? -places : places), make(1));
  const Rational scaled = places < 0 ? *this / scale : *this * scale;
  const Rational half(make(1), make(2));
  const Rational whole = is_negative() ? -((-scaled + half).floor()) : (scaled + half).floor();
  return places < 0 ? whole * scale : whole / scale;
}

Rational::Root Rational::square_root(int digits) const {
  if (is_negative()) throw NotComputable("the square root of a negative number");
  // sqrt(n/d) = sqrt(n*d)/d. The whole part of a root by Newton's method, from above.
  const auto whole_root = [](const Number& number) {
    Number root = make(0);
    if (BN_is_zero(number.get())) return root;
    demand(BN_set_bit(root.get(), (BN_num_bits(number.get()) + 1) / 2));
    for (;;) {
      Number next = make(0);
      demand(BN_div(next.get(), nullptr, number.get(), root.get(), context()));
      demand(BN_add(next.get(), next.get(), root.get()));
      demand(BN_rshift1(next.get(), next.get()));
      if (BN_cmp(next.get(), root.get()) >= 0) return root;
      root = std::move(next);
    }
  };
  Number product = make(0);
  demand(BN_mul(product.get(), numerator_.get(), denominator_.get(), context()));
  Number root = whole_root(product);
  const Number square = make(0);
  demand(BN_sqr(square.get(), root.get(), context()));
  if (BN_cmp(square.get(), product.get()) == 0) return {Rational(std::move(root), copy_of(denominator_)), true};
  // A small root begins with zeros behind the point, at most as many as its denominator allows: they are added.
  const int places = digits + BN_num_bits(denominator_.get()) / 3;
  const Number scale = power_of_ten(places);
  demand(BN_mul(product.get(), product.get(), scale.get(), context()));
  demand(BN_mul(product.get(), product.get(), scale.get(), context()));
  root = whole_root(product);
  Number denominator = make(0);
  demand(BN_mul(denominator.get(), denominator_.get(), scale.get(), context()));
  return {Rational(std::move(root), std::move(denominator)), false};
}

Rational::Decimal Rational::decimal(int digits) const {
  if (is_whole()) return {digits_of(numerator_), true};
  // It has an end if the denominator is made of twos and fives; then that many digits are enough.
  Number rest = copy_of(denominator_);
  int twos = 0;
  int fives = 0;
  for (; BN_mod_word(rest.get(), 2) == 0; ++twos) BN_div_word(rest.get(), 2);
  for (; BN_mod_word(rest.get(), 5) == 0; ++fives) BN_div_word(rest.get(), 5);
  const bool is_exact = BN_is_one(rest.get()) != 0;
  int places = std::max(twos, fives);
  if (!is_exact) {
    // `digits` of them behind the zeros that the number begins with.
    constexpr double kDigitsPerBit = 0.30103;
    const int magnitude =
        static_cast<int>((BN_num_bits(numerator_.get()) - BN_num_bits(denominator_.get())) * kDigitsPerBit);
    places = std::max(0, digits - magnitude);
  }
  Number scaled = copy_of(numerator_);
  const bool negative = BN_is_negative(scaled.get()) != 0;
  BN_set_negative(scaled.get(), 0);
  const Number scale = power_of_ten(places);
  demand(BN_mul(scaled.get(), scaled.get(), scale.get(), context()));
  // Half of the denominator more, so that cutting rounds.
  demand(BN_lshift1(scaled.get(), scaled.get()));
  demand(BN_add(scaled.get(), scaled.get(), denominator_.get()));
  const Number twice = make(0);
  demand(BN_lshift1(twice.get(), denominator_.get()));
  demand(BN_div(scaled.get(), nullptr, scaled.get(), twice.get(), context()));
  std::string text = digits_of(scaled);
  const auto behind = static_cast<std::size_t>(places);
  if (text.size() <= behind) text.insert(0, behind + 1 - text.size(), '0');
  if (places > 0) {
    text.insert(text.size() - behind, 1, '.');
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
  }
  return {(negative ? "-" : "") + text, is_exact};
}

std::string Rational::fraction() const { return digits_of(numerator_) + "/" + digits_of(denominator_); }

}  // namespace rkllm_mcp
