#include "text/utf8.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

using namespace rkllm_mcp;

namespace {

std::string encode(unsigned code) {
  const auto byte = [](unsigned value) { return static_cast<char>(value); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xC0 | code >> 6), byte(0x80 | (code & 0x3F))};
  if (code < 0x10000) return {byte(0xE0 | code >> 12), byte(0x80 | (code >> 6 & 0x3F)), byte(0x80 | (code & 0x3F))};
  return {byte(0xF0 | code >> 18), byte(0x80 | (code >> 12 & 0x3F)), byte(0x80 | (code >> 6 & 0x3F)),
          byte(0x80 | (code & 0x3F))};
}

}  // namespace

TEST_CASE("every code point but the surrogates is valid UTF-8") {
  for (unsigned code = 0; code <= 0x10FFFF; ++code) {
    const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (is_valid_utf8(encode(code)) == is_surrogate) FAIL("code point " << code);
  }
  CHECK_FALSE(is_valid_utf8(encode(0x110000)));
}

TEST_CASE("overlong forms, stray bytes and half characters are not UTF-8") {
  const std::vector<std::string> invalid = {"\x80",
                                            "a\xBF",
                                            "\xC0\x80",
                                            "\xC1\xBF",
                                            "\xE0\x80\x80",
                                            "\xE0\x9F\xBF",
                                            "\xF0\x80\x80\x80",
                                            "\xF0\x8F\xBF\xBF",
                                            "\xF4\x90\x80",
                                            "\xF5\x80\x80\x80",
                                            "\xFE",
                                            "\xFF",
                                            "\xC3",
                                            "\xE2\x82",
                                            "\xF0\x9F\x98",
                                            "\xC3(",
                                            "\xE2\x82(",
                                            "12345678\xE2(aaaaaa"};
  for (const auto& text : invalid) {
    CAPTURE(text);
    CHECK_FALSE(is_valid_utf8(text));
  }
}

TEST_CASE("text in pieces is judged like the whole") {
  const std::string text = "plain, Ti\xE1\xBA\xBFng Vi\xE1\xBB\x87t, \xE4\xB8\xAD\xE6\x96\x87, \xF0\x9F\x98\x80!";
  REQUIRE(is_valid_utf8(text));
  for (std::size_t split = 0; split <= text.size(); ++split) {
    Utf8Validator validator;
    CHECK(validator.feed(text.substr(0, split)));
    CHECK(validator.complete() == is_valid_utf8(text.substr(0, split)));
    CHECK(validator.feed(text.substr(split)));
    CHECK(validator.complete());
  }
}

TEST_CASE("characters are counted, and never cut in two") {
  const std::string text = "Vi\xE1\xBB\x87t \xF0\x9F\x98\x80!";
  CHECK(characters_in(text) == 7);
  CHECK(characters_in("") == 0);
  for (std::size_t bytes = 0; bytes <= text.size() + 1; ++bytes) {
    const std::string_view beginning = beginning_of(text, bytes);
    CHECK(is_valid_utf8(beginning));
    CHECK(beginning.size() <= bytes);
    CHECK(beginning.size() + 4 > std::min(bytes, text.size()));  // no more is left out than part of a character
  }
  CHECK(beginning_of(text, text.size()) == text);
}

TEST_CASE("a validator that has seen something invalid stays invalid until it is reset") {
  Utf8Validator validator;
  CHECK_FALSE(validator.feed("\xFF"));
  CHECK_FALSE(validator.feed("a"));
  CHECK_FALSE(validator.complete());
  validator.reset();
  CHECK(validator.feed("a"));
  CHECK(validator.complete());
}
