#include "tools/numbers/expression.hpp"

#include "support/catch.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using test::has_text;

namespace {

std::string shown(const std::string& expression) {
  INFO(expression);
  const Computed computed = compute(expression);
  const auto decimal = computed.value.decimal(kDigitsOfRoots);
  return (decimal.is_exact && computed.is_exact ? "" : "~") + decimal.text;
}

}  // namespace

TEST_CASE("arithmetic is exact") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"0.1+0.2", "0.3"},
      {"1.1*1.1", "1.21"},
      {"1/3*3", "1"},
      {"1/8", "0.125"},
      {"9007199254740993-9007199254740992", "1"},
      {"1e400/1e399", "10"},
      {"1.50", "1.5"},
      {".5 + 5.", "5.5"},
      {"2e-3", "0.002"},
      {"2^0.5e1", "32"},
      {"2**10", "1024"},
      {"2^-2", "0.25"},
      {"2^3^2", "512"},
      {"-2^2", "-4"},
      {"(-2)^2", "4"},
      {"2^-1*4", "2"},
      {"--3", "3"},
      {"1 - -1", "2"},
      {"10 - 2 - 3", "5"},
      {"100/10/5", "2"},
      {"2+3*4", "14"},
      {"(2+3)*4", "20"},
      {"7 % 3", "1"},
      {"-7 % 3", "2"},
      {"7 % -3", "-2"},
      {"5.5 % 2", "1.5"},
      {"0*-1", "0"},
      {"0^0", "1"},
      {"3 \xc3\x97 4 \xc3\xb7 6 \xe2\x88\x92 1", "1"},
      {"abs(-3.5)", "3.5"},
      {"floor(-1.5)", "-2"},
      {"ceil(-1.5)", "-1"},
      {"floor(2)", "2"},
      {"round(2.5)", "3"},
      {"round(-2.5)", "-3"},
      {"round(1.005, 2)", "1.01"},
      {"round(1234, -2)", "1200"},
      {"round(1250, -2)", "1300"},
      {"min(3, 1, 2)", "1"},
      {"max(0.1, 0.11)", "0.11"},
      {"sqrt(2.25)", "1.5"},
      {"sqrt(0)", "0"},
      {"sqrt(1/9)*3", "1"},
      {"12345678901234567890*98765432109876543210", "1219326311370217952237463801111263526900"},
  };
  for (const auto& [expression, value] : cases) CHECK(shown(expression) == value);
}

TEST_CASE("what has no end is rounded, and said to be") {
  CHECK(shown("1/3") == "~0." + std::string(50, '3'));
  CHECK(shown("2/3").ends_with("67"));
  CHECK(shown("-1/3").starts_with("~-0.333"));
  CHECK(compute("2/6").value.fraction() == "1/3");
  CHECK(shown("sqrt(2)").starts_with("~1.4142135623730950488016887242096980785696718753769"));
  CHECK(shown("1/3e-100").find('3') != std::string::npos);
  CHECK(shown("1/(3*10^100)").starts_with("~0." + std::string(100, '0') + "333333"));
  CHECK(shown("sqrt(2)^2").starts_with("~1.99999999999999999999999999999"));
}

TEST_CASE("what is no expression is refused with its place") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "at its end"},
      {"1+", "expected a number, a function or ( at its end"},
      {"1 2", "expected an operator at character 3"},
      {"(1", "expected ) at its end"},
      {"1)", "expected an operator at character 2"},
      {"2x", "expected an operator at character 2"},
      {"pi", "\"pi\" is no number and no function at character 1"},
      {"foo(1)", "there is no function \"foo\""},
      {"sqrt(1,2)", "sqrt() takes one number"},
      {"round(1,2,3)", "round() takes"},
      {"min()", "expected a number"},
      {".", "expected a digit"},
      {"1..2", "expected an operator at character 3"},
      {"1;system('x')", "expected an operator at character 2"},
      {std::string(500, '('), "nested too deeply"},
      {std::string(900, '-') + "1", "nested too deeply"},
  };
  for (const auto& [expression, complaint] : cases) {
    INFO(expression.substr(0, 30));
    CHECK_THROWS_WITH(compute(expression), has_text(complaint));
    CHECK_THROWS_AS(compute(expression), NotAnExpression);
  }
}

TEST_CASE("what cannot be computed is said, and nothing gets too long or takes too long") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"1/0", "division by zero"},
      {"1%0", "division by zero"},
      {"0^-1", "division by zero"},
      {"sqrt(-1)", "negative"},
      {"2^0.5", "no whole number"},
      {"2^10001", "beyond 10000"},
      {"9^9999", "2400 digits"},
      {"10^2000*10^2000", "2400 digits"},
      {"1e2001", "exponent beyond 2000"},
      {"1e99999999999", "exponent beyond 2000"},
      {"9^9^9", "beyond 10000"},
      {"round(1, 0.5)", "whole number of digits"},
      {"round(1, 5000)", "whole number of digits"},
  };
  for (const auto& [expression, complaint] : cases) {
    INFO(expression);
    CHECK_THROWS_WITH(compute(expression), has_text(complaint));
    CHECK_THROWS_AS(compute(expression), NotComputable);
  }
  std::string sum = "1/3";
  for (int i = 0; i < 120; ++i) sum += "+1/" + std::to_string(1000 + i);
  CHECK_FALSE(shown(sum).empty());
}
