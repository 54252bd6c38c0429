#include "tools/numbers/rational.hpp"

#include "support/catch.hpp"

#include <compare>
#include <limits>
#include <string>

using namespace rkllm_mcp;
using test::has_text;

namespace {

Rational exactly(const std::string& text) { return Rational::parse(text); }

std::string fraction_of(const std::string& text) { return exactly(text).fraction(); }

const Rational kTwo(2);
const Rational kThree(3);

}  // namespace

TEST_CASE("a decimal is read exactly, in lowest terms") {
  CHECK(Rational().fraction() == "0/1");
  CHECK(fraction_of("12") == "12/1");
  CHECK(fraction_of("0.5") == "1/2");
  CHECK(fraction_of(".5") == "1/2");
  CHECK(fraction_of("5.") == "5/1");
  CHECK(fraction_of("1e-3") == "1/1000");
  CHECK(fraction_of("1.5E10") == "15000000000/1");
  CHECK(fraction_of("1.50e+1") == "15/1");
  CHECK(fraction_of("0.10") == "1/10");
}

TEST_CASE("what is no decimal is refused") {
  for (const char* text : {"", ".", "e5", "1e", "1e5x", "1.2.3", "0x10", "1 2", "NaN", "\xEF\xBC\x91", "1,5", "\xFF"}) {
    INFO(text);
    CHECK_THROWS_AS(exactly(text), NotComputable);
  }
}

TEST_CASE("exponents up to 2000 are read in either direction, and 2000 digits") {
  CHECK(exactly("1e2000") * exactly("1e-2000") == Rational(1));
  CHECK_THROWS_AS(exactly("1e2001"), NotComputable);
  CHECK_THROWS_AS(exactly("1e-2001"), NotComputable);
  CHECK_THROWS_AS(exactly("1.5e-2000"), NotComputable);
  CHECK(exactly(std::string(2000, '9')) + Rational(1) == exactly("1e2000"));
  CHECK_THROWS_AS(exactly(std::string(2001, '9')), NotComputable);
}

TEST_CASE("exponents at and beyond the ends of an int are refused as too large") {
  for (const char* text : {"1e2147483647", "1e-2147483648", "1.5e-2147483648", "1.5e2147483647", "1e99999999999"}) {
    INFO(text);
    CHECK_THROWS_WITH(exactly(text), has_text("an exponent beyond 2000"));
  }
}

TEST_CASE("whole numbers are taken over the whole range of a long") {
  CHECK(Rational(std::numeric_limits<long>::max()).fraction() ==
        std::to_string(std::numeric_limits<long>::max()) + "/1");
  CHECK(Rational(std::numeric_limits<long>::min()).fraction() ==
        std::to_string(std::numeric_limits<long>::min()) + "/1");
}

TEST_CASE("the four operations are exact, and give fractions in lowest terms with the sign above") {
  CHECK(exactly("0.1") + exactly("0.2") == exactly("0.3"));
  CHECK((Rational(1) / kTwo + Rational(1) / kThree).fraction() == "5/6");
  CHECK((Rational(1) / kTwo - Rational(1) / kThree).fraction() == "1/6");
  CHECK((Rational(2) / kThree * (kThree / Rational(4))).fraction() == "1/2");
  CHECK((Rational(1) / Rational(-2)).fraction() == "-1/2");
  CHECK((Rational(-4) / Rational(-6)).fraction() == "2/3");
  CHECK((Rational(0) / Rational(-5)).fraction() == "0/1");
  CHECK_FALSE((Rational(0) / Rational(-5)).is_negative());
  CHECK_FALSE((-Rational(0)).is_negative());
  CHECK((-Rational(-3)).fraction() == "3/1");
  CHECK_THROWS_WITH(Rational(1) / Rational(0), "division by zero");
  CHECK_THROWS_WITH(Rational(0) / Rational(0), "division by zero");
}

TEST_CASE("fractions are compared by value") {
  CHECK(Rational(1) / kThree < Rational(1) / kTwo);
  CHECK(Rational(-1) / kTwo < Rational(-1) / kThree);
  CHECK(Rational(-1) < Rational(0));
  CHECK((exactly("0.50") <=> Rational(2) / Rational(4)) == std::strong_ordering::equal);
  CHECK(exactly("0.5") != exactly("0.50000000000000000000000000000000000000000001"));
  Rational copy(kTwo);
  copy = copy + Rational(1);
  CHECK(copy == kThree);
  CHECK(kTwo.fraction() == "2/1");
}

TEST_CASE("a number of 8192 bits is computed with, and one that gets longer is refused, above and below the line") {
  const Rational longest = kTwo.power(Rational(8191));
  CHECK((Rational(1) / longest).is_negative() == false);
  CHECK_THROWS_WITH(longest * kTwo, has_text("longer than 2400 digits"));
  CHECK_THROWS_WITH(longest + longest, has_text("longer than 2400 digits"));
  CHECK_THROWS_WITH(Rational(1) / longest / kTwo, has_text("longer than 2400 digits"));
  CHECK_THROWS_WITH(kTwo.power(Rational(8192)), has_text("longer than 2400 digits"));
  CHECK_THROWS_WITH(kTwo.power(Rational(-8192)), has_text("longer than 2400 digits"));
  CHECK(longest * kTwo.power(Rational(-8191)) == Rational(1));
}

TEST_CASE("powers take whole exponents up to 10000 in either direction") {
  CHECK((kTwo / kThree).power(Rational(3)).fraction() == "8/27");
  CHECK((kTwo / kThree).power(Rational(-3)).fraction() == "27/8");
  CHECK(Rational(-2).power(Rational(3)).fraction() == "-8/1");
  CHECK(Rational(-2).power(Rational(-3)).fraction() == "-1/8");
  CHECK(Rational(5).power(Rational(0)) == Rational(1));
  CHECK(Rational(-1).power(Rational(10'000)) == Rational(1));
  CHECK(Rational(-1).power(Rational(-9'999)) == Rational(-1));
  CHECK_THROWS_WITH(Rational(1).power(Rational(10'001)), "an exponent is beyond 10000");
  CHECK_THROWS_WITH(Rational(1).power(Rational(-10'001)), "an exponent is beyond 10000");
  CHECK_THROWS_WITH(Rational(1).power(exactly("1e100")), "an exponent is beyond 10000");
  CHECK_THROWS_WITH(Rational(4).power(exactly("0.5")), has_text("sqrt()"));
  CHECK_THROWS_WITH(Rational(0).power(Rational(-1)), "division by zero");
}

TEST_CASE("floor goes down, also below zero, and rounding takes halves away from zero") {
  CHECK(exactly("2.7").floor() == kTwo);
  CHECK((-exactly("2.1")).floor() == Rational(-3));
  CHECK(Rational(-2).floor() == Rational(-2));
  CHECK(exactly("2.5").rounded(0) == kThree);
  CHECK((-exactly("2.5")).rounded(0) == -kThree);
  CHECK(exactly("2.4999").rounded(0) == kTwo);
  CHECK(exactly("1.005").rounded(2) == exactly("1.01"));
  CHECK((-exactly("1.004")).rounded(2) == Rational(-1));
  CHECK(Rational(150).rounded(-2) == Rational(200));
  CHECK(Rational(149).rounded(-2) == Rational(100));
  CHECK(Rational(2).is_whole());
  CHECK_FALSE(exactly("2.5").is_whole());
}

TEST_CASE("a square root is exact where there is an exact one, and says where it is not") {
  const auto exact = (Rational(9) / Rational(4)).square_root(5);
  CHECK(exact.is_exact);
  CHECK(exact.value.fraction() == "3/2");
  CHECK(Rational(0).square_root(5).value == Rational(0));
  CHECK(Rational(0).square_root(5).is_exact);
  const auto rough = kTwo.square_root(10);
  CHECK_FALSE(rough.is_exact);
  CHECK(rough.value.rounded(9).decimal(20).text == "1.414213562");
  const auto small = exactly("2e-20").square_root(10);
  CHECK_FALSE(small.is_exact);
  CHECK((small.value * exactly("1e10")).rounded(9).decimal(20).text == "1.414213562");
  CHECK_THROWS_AS(Rational(-1).square_root(5), NotComputable);
}

TEST_CASE("as a decimal a number is exact if it has an end, else so many digits of it, rounded") {
  const auto text_of = [](const Rational& number, int digits, bool is_exact) {
    const auto decimal = number.decimal(digits);
    CHECK(decimal.is_exact == is_exact);
    return decimal.text;
  };
  CHECK(text_of(Rational(-100), 1, true) == "-100");
  CHECK(text_of(Rational(1) / Rational(8), 1, true) == "0.125");
  CHECK(text_of(-exactly("1e-5"), 1, true) == "-0.00001");
  CHECK(text_of(Rational(1) / kThree, 5, false) == "0.33333");
  CHECK(text_of(kTwo / kThree, 5, false) == "0.66667");
  CHECK(text_of(-kTwo / kThree, 5, false) == "-0.66667");
  CHECK(text_of(Rational(29'999'999) / kThree / exactly("1e7"), 5, false) == "1");
}
