#include "chat/structured/schema_pattern.hpp"

#include "support/catch.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

using Match = SchemaPattern::Match;

Match find_pattern(std::string_view expression, std::string_view text) {
  std::size_t steps = 1'000'000;
  return SchemaPattern(expression).find_in(text, steps);
}

std::string complaint_about_pattern(const std::string& expression) {
  try {
    const SchemaPattern pattern(expression);
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("an expression is found anywhere in a text, unless it says where") {
  CHECK(find_pattern("b+", "abbc") == Match::kFound);
  CHECK(find_pattern("^b", "abbc") == Match::kNotFound);
  CHECK(find_pattern("", "") == Match::kFound);
  CHECK(find_pattern("a", "") == Match::kNotFound);
  CHECK(find_pattern("a{2,3}$", "caa") == Match::kFound);
  CHECK(find_pattern("^a{2}$", "aaa") == Match::kNotFound);
}

TEST_CASE("a character is one of Unicode, and a class has only the digits and letters of ASCII") {
  CHECK(find_pattern("^.{3}$", "Hu\xE1\xBA\xBF") == Match::kFound);
  CHECK(find_pattern("^\\p{L}+$", "Hu\xE1\xBA\xBF") == Match::kFound);
  CHECK(find_pattern("^\\w+$", "Hu\xE1\xBA\xBF") == Match::kNotFound);
  CHECK(find_pattern("^\\d$", "\xD9\xA3") == Match::kNotFound);
}

TEST_CASE("a dot is no end of a line, and the end of the text is its end") {
  for (const std::string end : {"\n", "\r", "\xE2\x80\xA8", "\xE2\x80\xA9"}) {
    CAPTURE(end);
    CHECK(find_pattern("^.$", end) == Match::kNotFound);
    CHECK(find_pattern("^a$", "a" + end) == Match::kNotFound);
    CHECK(find_pattern("^[^a]$", end) == Match::kFound);
  }
}

TEST_CASE("an expression that is wrong, or may mean something else elsewhere, is refused with the reason") {
  CHECK_THAT(complaint_about_pattern("(a"), rkllm_mcp::test::has_text("is wrong: "));
  CHECK_THAT(complaint_about_pattern("[b-a]"), rkllm_mcp::test::has_text("is wrong: "));
  CHECK_THAT(complaint_about_pattern("\\"), rkllm_mcp::test::has_text("is wrong: "));
  CHECK(complaint_about_pattern("(?i)a") == "\"(?i\" cannot be read here");
  CHECK(complaint_about_pattern("(*F)") == "\"(*\" cannot be read here");
  CHECK(complaint_about_pattern("[[:alpha:]]") == "\"[:\" cannot be read here");
  CHECK(complaint_about_pattern("(a)\\1") == "\"\\1\" cannot be read here");
  CHECK(complaint_about_pattern("a{,2}") == "\"{\" cannot be read here");
  CHECK(complaint_about_pattern("a*+") == "\"+\" cannot be read here");
  CHECK(complaint_about_pattern("a{2}+") == "\"+\" cannot be read here");
  CHECK(complaint_about_pattern("\\pL") == "\"\\p\" cannot be read here");
  CHECK(complaint_about_pattern("(?") == "\"(?\" cannot be read here");
}

TEST_CASE("what looks alike but means the same everywhere is taken") {
  for (const std::string expression : {"a+?", "a{2}?", "[*+?{(]", "[+*]+", "\\*+", "\\(\\*", "a|b*", "\\\\d"}) {
    CAPTURE(expression);
    CHECK(complaint_about_pattern(expression).empty());
  }
}

TEST_CASE("an expression has at most a hundred groups") {
  std::string groups;
  for (int count = 0; count < 100; ++count) groups += "()";
  CHECK(complaint_about_pattern(groups).empty());
  CHECK(complaint_about_pattern(groups + "()") == "has more than 100 groups");
  CHECK(complaint_about_pattern(groups + "(?:)").empty());
}

TEST_CASE("a text of 4,096 bytes is looked at, and a longer one is too hard") {
  CHECK(find_pattern("b$", std::string(4095, 'a') + "b") == Match::kFound);
  CHECK(find_pattern("^b", std::string(4096, 'a')) == Match::kNotFound);
  CHECK(find_pattern("^a", std::string(4097, 'a')) == Match::kTooHard);
}

TEST_CASE("a text that is not UTF-8 is neither found nor not found") {
  CHECK(find_pattern("a", "a\xFF") == Match::kTooHard);
  CHECK(find_pattern("b", "\xC3") == Match::kTooHard);
}

TEST_CASE("what is looked for takes steps, and where they do not suffice it is too hard") {
  const SchemaPattern pattern("^a+b$");
  const std::string text = std::string(20, 'a') + "b";
  std::size_t left = 1'000'000;
  CHECK(pattern.find_in(text, left) == Match::kFound);
  const std::size_t taken = 1'000'000 - left;
  CHECK(taken > 0);
  std::size_t just_enough = taken;
  CHECK(pattern.find_in(text, just_enough) == Match::kFound);
  CHECK(just_enough == 0);
  std::size_t one_less = taken - 1;
  CHECK(pattern.find_in(text, one_less) == Match::kTooHard);
  std::size_t none = 0;
  CHECK(pattern.find_in(text, none) == Match::kTooHard);
}

TEST_CASE("an expression that would be tried without end is given up") {
  CHECK(find_pattern("^(a+)+$", std::string(60, 'a') + "b") == Match::kTooHard);
}
