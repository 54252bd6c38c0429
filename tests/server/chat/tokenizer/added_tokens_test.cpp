#include "chat/tokenizer/added_tokens.hpp"

#include "support/catch.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

using Pieces = std::vector<std::pair<std::string, std::optional<TokenId>>>;

enum class Wanted { kAllTokens, kOnlyWritten };

Pieces pieces_of(const AddedTokens& tokens, std::string_view text, Wanted wanted = Wanted::kAllTokens) {
  Pieces pieces;
  tokens.divide(text, wanted == Wanted::kAllTokens,
                [&pieces](std::string_view piece, std::optional<TokenId> token) { pieces.emplace_back(piece, token); });
  return pieces;
}

// One token, <x>, which takes space on these sides.
AddedTokens token_taking_space(bool before, bool behind) {
  AddedTokens tokens;
  tokens.add("<x>", {.id = 1, .takes_space_before = before, .takes_space_behind = behind});
  return tokens;
}

}  // namespace

TEST_CASE("a text is divided into tokens and what lies between, in order and without empty pieces") {
  const AddedTokens tokens = token_taking_space(false, false);
  CHECK(pieces_of(tokens, "a<x>b") == Pieces{{"a", {}}, {"<x>", 1}, {"b", {}}});
  CHECK(pieces_of(tokens, "<x><x>") == Pieces{{"<x>", 1}, {"<x>", 1}});
  CHECK(pieces_of(tokens, "a<x") == Pieces{{"a<x", {}}});
  CHECK(pieces_of(tokens, "<<x>x>") == Pieces{{"<", {}}, {"<x>", 1}, {"x>", {}}});
  CHECK(pieces_of(tokens, "").empty());
  CHECK(pieces_of(AddedTokens(), "<x>") == Pieces{{"<x>", {}}});
}

TEST_CASE("of the tokens that begin at one place the longest is taken, whatever stands between them in order") {
  AddedTokens tokens;
  tokens.add("<a", {.id = 1});
  tokens.add("<ab>c", {.id = 2});
  tokens.add("<ab>", {.id = 3});
  tokens.add("<ab>cd!", {.id = 4});
  CHECK(pieces_of(tokens, "<ab>cd?") == Pieces{{"<ab>c", 2}, {"d?", {}}});
  CHECK(pieces_of(tokens, "<ab>cd!") == Pieces{{"<ab>cd!", 4}});
  CHECK(pieces_of(tokens, "<ab>x") == Pieces{{"<ab>", 3}, {"x", {}}});
  CHECK(pieces_of(tokens, "<ac") == Pieces{{"<a", 1}, {"c", {}}});
}

TEST_CASE("what is found first is taken, also where a longer token begins inside of it") {
  AddedTokens tokens;
  tokens.add("ab", {.id = 1});
  tokens.add("bcd", {.id = 2});
  CHECK(pieces_of(tokens, "abcd") == Pieces{{"ab", 1}, {"cd", {}}});
  CHECK(pieces_of(tokens, "bcd") == Pieces{{"bcd", 2}});
}

TEST_CASE("marks of the format are text where they are not wanted, and other tokens are found all the same") {
  AddedTokens tokens;
  tokens.add("<s>", {.id = 1, .is_special = true});
  tokens.add("<w>", {.id = 2, .is_special = false});
  CHECK(pieces_of(tokens, "<s><w>") == Pieces{{"<s>", 1}, {"<w>", 2}});
  CHECK(pieces_of(tokens, "<s><w>", Wanted::kOnlyWritten) == Pieces{{"<s>", {}}, {"<w>", 2}});
  CHECK(pieces_of(tokens, "<s>", Wanted::kOnlyWritten) == Pieces{{"<s>", {}}});
}

TEST_CASE("space beside a token is taken on the sides where it takes some") {
  const std::string text = "a \t<x>\n b";
  CHECK(pieces_of(token_taking_space(false, false), text) == Pieces{{"a \t", {}}, {"<x>", 1}, {"\n b", {}}});
  CHECK(pieces_of(token_taking_space(true, false), text) == Pieces{{"a", {}}, {"<x>", 1}, {"\n b", {}}});
  CHECK(pieces_of(token_taking_space(false, true), text) == Pieces{{"a \t", {}}, {"<x>", 1}, {"b", {}}});
  CHECK(pieces_of(token_taking_space(true, true), "  <x>  ") == Pieces{{"<x>", 1}});
  CHECK(pieces_of(token_taking_space(true, true), " <x> <x> ") == Pieces{{"<x>", 1}, {"<x>", 1}});
}

TEST_CASE("space is what Unicode calls so, and nothing that only looks alike") {
  const AddedTokens both = token_taking_space(true, true);
  for (const std::string space : {"\xC2\xA0", "\xE3\x80\x80", "\xE2\x80\xA8", "\xC2\x85", "\v", "\f", "\r"}) {
    CAPTURE(space);
    CHECK(pieces_of(both, "a" + space + "<x>" + space + "b") == Pieces{{"a", {}}, {"<x>", 1}, {"b", {}}});
  }
  const std::string none = "\xE2\x80\x8B";  // a zero width space is a format character
  CHECK(pieces_of(both, "a" + none + "<x>" + none) == Pieces{{"a" + none, {}}, {"<x>", 1}, {none, {}}});
}

TEST_CASE("a token keeps what was said of it first, and one without text is none") {
  AddedTokens tokens;
  tokens.add("<x>", {.id = 1});
  tokens.add("<x>", {.id = 2});
  tokens.add("", {.id = 3});
  CHECK(pieces_of(tokens, "a<x><y") == Pieces{{"a", {}}, {"<x>", 1}, {"<y", {}}});
}

TEST_CASE("tokens and texts may have any characters") {
  AddedTokens tokens;
  tokens.add("\xE2\x96\x81", {.id = 1});
  CHECK(pieces_of(tokens, "Hu\xE1\xBA\xBF\xE2\x96\x81") == Pieces{{"Hu\xE1\xBA\xBF", {}}, {"\xE2\x96\x81", 1}});
  CHECK(pieces_of(tokens, "\xE2\x96") == Pieces{{"\xE2\x96", {}}});
}
