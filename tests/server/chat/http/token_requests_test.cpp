#include "chat/http/token_requests.hpp"

#include "chat/tokenizer/tokenizer.hpp"
#include "chat/turn/turn_error.hpp"
#include "support/catch.hpp"

#include <cstddef>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

constexpr std::size_t kAnyLength = std::numeric_limits<std::size_t>::max();

// Of a, b and ab, and of the bytes of é.
Tokenizer tokenizer_of_bytes() {
  return read_tokenizer(R"({"added_tokens":[{"id":9,"content":"<end>"}],"model":{"type":"BPE","byte_fallback":true,
    "unk_token":"<unk>","vocab":{"<unk>":0,"a":1,"b":2,"ab":4,"<0xC3>":5,"<0xA9>":6},"merges":[["a","b"]]}})");
}

TurnError token_error(const std::function<void()>& action) {
  try {
    action();
  } catch (const TurnError& error) {
    return error;
  }
  throw std::logic_error("nothing was refused");
}

std::string reply_for(const std::string& content, bool with_pieces = false) {
  const Tokenizer tokenizer = tokenizer_of_bytes();
  return tokenize_reply({.content = content, .with_pieces = with_pieces}, &tokenizer, kAnyLength);
}

}  // namespace

TEST_CASE("who asks for tokens says what text it is of, and the rest goes without saying") {
  const TokenizeRequest plain = read_tokenize(Json{{"content", "ab"}});
  CHECK(plain.model.empty());
  CHECK(plain.content == "ab");
  CHECK_FALSE(plain.options.with_special);
  CHECK(plain.options.finds_special);
  CHECK_FALSE(plain.with_pieces);
  const TokenizeRequest whole = read_tokenize(Json{{"model", "m"},
                                                   {"content", ""},
                                                   {"add_special", true},
                                                   {"parse_special", false},
                                                   {"with_pieces", true},
                                                   {"unknown", 1}});
  CHECK(whole.model == "m");
  CHECK(whole.content.empty());
  CHECK(whole.options.with_special);
  CHECK_FALSE(whole.options.finds_special);
  CHECK(whole.with_pieces);
}

TEST_CASE("what is wrong with a request for tokens or for their text is said with its field") {
  const std::vector<std::pair<Json, std::string>> texts{{Json::object(), "content"},
                                                        {{{"content", 7}}, "content"},
                                                        {{{"content", "a"}, {"model", 7}}, "model"},
                                                        {{{"content", "a"}, {"add_special", 1}}, "add_special"},
                                                        {{{"content", "a"}, {"parse_special", "x"}}, "parse_special"},
                                                        {{{"content", "a"}, {"with_pieces", 1}}, "with_pieces"}};
  for (const auto& [request, field] : texts) {
    INFO(request.dump());
    const TurnError error = token_error([&request = request] { read_tokenize(request); });
    CHECK(error.kind() == ErrorKind::kBadField);
    CHECK(error.field() == field);
  }
  const std::vector<std::pair<Json, std::string>> tokens{{Json::object(), "tokens"},
                                                         {{{"tokens", "1"}}, "tokens"},
                                                         {{{"tokens", {1, -1}}}, "tokens[1]"},
                                                         {{{"tokens", {"x"}}}, "tokens[0]"},
                                                         {{{"tokens", {1, 2, 1.5}}}, "tokens[2]"}};
  for (const auto& [request, field] : tokens) {
    INFO(request.dump());
    const TurnError error = token_error([&request = request] { read_detokenize(request); });
    CHECK(error.kind() == ErrorKind::kBadField);
    CHECK(error.field() == field);
  }
  CHECK(read_detokenize(Json{{"tokens", Json::array()}}).tokens.empty());
  const DetokenizeRequest read = read_detokenize(Json{{"model", "m"}, {"tokens", {4, 1}}});
  CHECK(read.model == "m");
  CHECK(read.tokens == std::vector<TokenId>{4, 1});
}

TEST_CASE("a text's tokens are told as numbers, or each with what it stands for") {
  CHECK(reply_for("") == R"({"tokens":[]})");
  CHECK(reply_for("aba") == R"({"tokens":[4,1]})");
  CHECK(reply_for("aba", true) == R"({"tokens":[{"id":4,"piece":"ab"},{"id":1,"piece":"a"}]})");
  CHECK(reply_for("<end>", true) == R"({"tokens":[{"id":9,"piece":"<end>"}]})");
}

TEST_CASE("a token that is half a character stands as the numbers of its bytes, and in a text as U+FFFD") {
  CHECK(reply_for("é", true) == R"({"tokens":[{"id":5,"piece":[195]},{"id":6,"piece":[169]}]})");
  const Tokenizer tokenizer = tokenizer_of_bytes();
  CHECK(Json::parse(detokenize_reply({.tokens = {4, 5, 6}}, &tokenizer)) == Json{{"content", "abé"}});
  CHECK(Json::parse(detokenize_reply({.tokens = {4, 5}}, &tokenizer)) == Json{{"content", "ab\xEF\xBF\xBD"}});
  CHECK(Json::parse(detokenize_reply({}, &tokenizer)) == Json{{"content", ""}});
}

TEST_CASE("a token that does not exist is named") {
  const Tokenizer tokenizer = tokenizer_of_bytes();
  const TurnError error = token_error([&] { detokenize_reply({.tokens = {4, 77}}, &tokenizer); });
  CHECK(error.kind() == ErrorKind::kBadField);
  CHECK(error.field() == "tokens");
  CHECK_THAT(error.what(), test::has_text("no token 77"));
}

TEST_CASE("without a tokenizer neither is possible, and what is missing is said") {
  for (const auto& asked : std::vector<std::function<void()>>{[] { tokenize_reply({}, nullptr, kAnyLength); },
                                                              [] { detokenize_reply({}, nullptr); }}) {
    const TurnError error = token_error(asked);
    CHECK(error.kind() == ErrorKind::kNotSupported);
    CHECK_THAT(error.what(), test::has_text("no tokenizer.json"));
  }
}

TEST_CASE("an answer as long as it may be is given, and none that is a byte longer") {
  const Tokenizer tokenizer = tokenizer_of_bytes();
  for (const bool with_pieces : {false, true}) {
    const TokenizeRequest request{.content = "abab", .with_pieces = with_pieces};
    const std::string whole = tokenize_reply(request, &tokenizer, kAnyLength);
    CHECK(tokenize_reply(request, &tokenizer, whole.size()) == whole);
    const TurnError error = token_error([&] { tokenize_reply(request, &tokenizer, whole.size() - 1); });
    CHECK(error.field() == "content");
    CHECK_THAT(error.what(), test::has_text("limits.max_reply_bytes"));
  }
}

TEST_CASE("a text that is too long, or takes too long, is refused with the reason") {
  const Tokenizer tokenizer = tokenizer_of_bytes();
  const TokenizeRequest longer{.content = std::string((std::size_t{1} << 20U) + 1, 'a')};
  const TurnError error = token_error([&] { tokenize_reply(longer, &tokenizer, kAnyLength); });
  CHECK(error.kind() == ErrorKind::kBadField);
  CHECK(error.field() == "content");
  CHECK_THAT(error.what(), test::has_text("more than 1048576 bytes"));
  TokenizeRequest stopped{.content = "a"};
  stopped.options.keep_going = [] { throw std::runtime_error("it rains"); };
  CHECK_THROWS_WITH(tokenize_reply(stopped, &tokenizer, kAnyLength), test::has_text("it rains"));
}

TEST_CASE("a prompt's tokens are counted, or estimated as one for each four bytes that have begun") {
  const Tokenizer tokenizer = tokenizer_of_bytes();
  const TokenCount counted = tokens_of_prompt("abab<end>", &tokenizer, {});
  CHECK(counted.tokens == 3);
  CHECK_FALSE(counted.is_estimate);
  for (const auto& [bytes, tokens] : std::vector<std::pair<std::size_t, int>>{{0, 0}, {1, 1}, {4, 1}, {5, 2}}) {
    CHECK(estimated_tokens(bytes).tokens == tokens);
    CHECK(estimated_tokens(bytes).is_estimate);
    CHECK(tokens_of_prompt(std::string(bytes, 'a'), nullptr, {}).tokens == tokens);
  }
  const TokenCount stopped = tokens_of_prompt("abababab", &tokenizer, [] { throw std::runtime_error("it rains"); });
  CHECK(stopped.tokens == 2);
  CHECK(stopped.is_estimate);
  CHECK(tokens_of_prompt(std::string((std::size_t{1} << 20U) + 4, 'a'), &tokenizer, {}).is_estimate);
}
