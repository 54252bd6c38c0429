// What is found here is what Oniguruma 6.9.8 finds, with which Hugging Face's library divides texts.
#include "chat/tokenizer/pattern.hpp"

#include "support/catch.hpp"

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace rkllm_mcp::chat;

namespace {

// "<what was found>", and what lies between as it is.
std::string divided(const Pattern& pattern, std::string_view text) {
  std::string all;
  pattern.each_piece(text, [&all](std::string_view piece, bool is_match) {
    all += is_match ? "<" + std::string(piece) + ">" : std::string(piece) + "|";
  });
  return all;
}

std::string divided_by(const std::string& expression, std::string_view text) {
  return divided(Pattern(expression), text);
}

std::string refusal_of(const std::string& expression) {
  try {
    const Pattern pattern(expression);
    return "none";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("a pattern gives what it finds and what lies between in their order, and nothing that is empty") {
  CHECK(divided_by("[0-9]+", "a12b3") == "a|<12>b|<3>");
  CHECK(divided_by("[0-9]", "12") == "<1><2>");
  CHECK(divided_by("a", "bc") == "bc|");
  CHECK(divided_by("a", "").empty());
}

TEST_CASE("a pattern looks at what stands beside a match, also at what has been found before it") {
  CHECK(divided_by(R"(\s+(?!\S))", "a   b") == "a|<  > b|");
  CHECK(divided_by("(?<=a)b", "ab") == "a|<b>");
  CHECK(divided_by("a|(?<=a)b", "abb") == "<a><b>b|");
}

TEST_CASE("a pattern goes by characters of Unicode, not by bytes") {
  CHECK(divided_by(".", "\xC3\xA9\xF0\x9F\x98\x80") == "<\xC3\xA9><\xF0\x9F\x98\x80>");
  CHECK(divided_by(R"(\p{L}+)",
                   "a\xC3\xA9\xE4\xB8\xAD"
                   "1") == "<a\xC3\xA9\xE4\xB8\xAD>1|");
  CHECK(divided_by(R"(\d+)", "2\xD9\xA3x") == "<2\xD9\xA3>x|");  // ARABIC-INDIC DIGIT THREE
  CHECK(divided_by(R"(\s)", "a\xC2\xA0") == "a|<\xC2\xA0>");     // NO-BREAK SPACE
  CHECK(divided_by("(?i:\xC3\xA9)", "\xC3\x89") == "<\xC3\x89>");
}

TEST_CASE("the pattern of a text finds that text alone, whatever it has in it") {
  for (const std::string text : {".",   "a.b", "^$", "(a", "[",  "]", "\\", "\\d", "a|b",          "{2}",
                                 "*+?", "-",   "#",  " ",  "\n", "/", "\"", "&&",  "\xE2\x96\x81", "Az09"}) {
    INFO(text);
    CHECK(divided(Pattern::of_text(text), "1" + text + text + "2") == "1|<" + text + "><" + text + ">2|");
  }
  CHECK(divided(Pattern::of_text("a.b"), "axb") == "axb|");
  CHECK_THROWS_AS(Pattern::of_text(""), std::runtime_error);
}

TEST_CASE("a pattern that is wrong is told with the place, and one that may find nothing as that") {
  CHECK(refusal_of("a(b").starts_with("the expression is wrong at its byte 4: "));
  CHECK(refusal_of("[a").starts_with("the expression is wrong at its byte 3: "));
  for (const char* const expression : {"", "a*", "a?", "(?=a)", "a|"}) {
    INFO(expression);
    CHECK(refusal_of(expression) == "an expression may find an empty text, which is not understood here");
  }
}

TEST_CASE("what another engine reads otherwise is refused by what it is") {
  const auto refused = [](std::string_view what) {
    return "an expression has " + std::string(what) + ", which is not understood here";
  };
  // A repetition that is repeated, and one from 0.
  CHECK(refusal_of("[0-9]{1,3}+") == refused("{1,3}+"));
  CHECK(refusal_of("a{2,}+") == refused("{2,}+"));
  CHECK(refusal_of("xa{2}?") == refused("{2}?"));
  CHECK(refusal_of("a{,2}b") == refused("{,2}"));
  CHECK(refusal_of("a{ 1, 3 }b") == refused("{ 1, 3 }"));
  CHECK(refusal_of("a{2\t}b") == refused("{2\t}"));
  // m: a dot is any character.
  CHECK(refusal_of("(?m)a.b") == refused("(?m"));
  CHECK(refusal_of("(?im:a.b)") == refused("(?im"));
  CHECK(refusal_of("(?i-x:a b)") == refused("(?i-x"));
  CHECK(refusal_of("(*UCP)a") == refused("(*"));
  // An option takes in what is behind it.
  CHECK(refusal_of("a(?i)b|c") == refused("(?i)"));
  CHECK(refusal_of("a|(?i)b") == refused("(?i)"));
  CHECK(refusal_of("((?-i)b)") == refused("(?-i)"));
  // Sets in classes, also where their first character is a bracket.
  CHECK(refusal_of("[a-z&&[^o]]") == refused("&"));
  CHECK(refusal_of("[]&&[a]]") == refused("&"));
  CHECK(refusal_of("[^]&&[a]]") == refused("&"));
  CHECK(refusal_of("[[:alpha:]]") == refused("["));
  for (const char* const what :
       {"^", "$", R"(\b)", R"(\B)", R"(\w)", R"(\W)", R"(\h)", R"(\v)", R"(\R)", R"(\X)", R"(\Q)", R"(\G)", R"(\g)",
        R"(\Z)", R"(\p{Han})", R"(\P{Latin})", R"(\p{Yi})", R"(\p{^Yi})", R"(\p{CI})"}) {
    INFO(what);
    CHECK(refusal_of(std::string("a") + what + "b") == refused(what));
  }
  CHECK(refusal_of(R"([a\w])") == refused(R"(\w)"));
  CHECK(refusal_of(R"(\pL{2})") == refused(R"(\p)"));
}

TEST_CASE("what only looks like what is refused is understood") {
  CHECK(divided_by(R"(\\w)", "a\\w") == "a|<\\w>");
  CHECK(divided_by(R"(\$|\^|\(\?m\))", "a$^(?m)") == "a|<$><^><(?m)>");
  CHECK(divided_by("[$]|[a^]|[]b]|[^]c]", "]c") == "<]>c|");
  CHECK(divided_by("[a&]+", "a&b") == "<a&>b|");
  CHECK(divided_by("[0-9]{1,3}", "1234567") == "<123><456><7>");
  CHECK(divided_by("a{1,2}?", "aa") == "<a><a>");
  CHECK(divided_by("[{]2}+", "a{2}}") == "a|<{2}}>");
  CHECK(divided_by("a{,}", "a{,}") == "<a{,}>");
  CHECK(divided_by(R"(\x{61}+|\p{^L})", "baa1") == "b|<aa><1>");
  CHECK(divided_by(R"(\p{Lu}++|\P{L})", "aBC1") == "a|<BC><1>");
  CHECK(divided_by("(?:max)|(?<m>x)", "maxx") == "<max><x>");
  CHECK(divided_by("(?i)a|b", "AxB") == "<A>x|<B>");
  CHECK(divided_by("a(?i:b)|c", "aBC") == "<aB>C|");
  CHECK(divided_by("a{ }b", "a{ }b") == "<a{ }b>");
}

TEST_CASE("a text that takes an expression too long is refused") {
  const Pattern pattern("(a+a+)+[bd]");
  CHECK_THROWS_WITH(pattern.each_piece(std::string(5000, 'a') + "c", [](std::string_view, bool) {}),
                    rkllm_mcp::test::has_text("a text cannot be divided: "));
}

TEST_CASE("what takes a piece may end the division") {
  std::vector<std::string> taken;
  const auto take = [&taken](std::string_view piece, bool) {
    taken.emplace_back(piece);
    if (taken.size() == 2) throw std::runtime_error("enough");
  };
  CHECK_THROWS_WITH(Pattern("a").each_piece("aaa", take), "enough");
  CHECK(taken == std::vector<std::string>{"a", "a"});
}
