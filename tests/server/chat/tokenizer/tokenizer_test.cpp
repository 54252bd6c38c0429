// What no other library is asked for; that tokens are right, tests/sdks/tokenizer_test.mjs holds.
#include "chat/tokenizer/tokenizer.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/json.hpp>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

using Words = std::vector<std::string>;

// What one step makes of a text. A list of initializers would have to copy it.
Words words_by(PreTokenizer step, const std::string& text) {
  std::vector<PreTokenizer> steps;
  steps.push_back(std::move(step));
  return words_of(text, true, steps);
}

Words split_at_commas(const std::string& text, Split::Behavior behavior, bool is_inverted = false) {
  return words_by(Split{Pattern(","), behavior, is_inverted}, text);
}

// A tokenizer of characters: a, b, c, the mark of a space, and what the pairs make.
Json small_tokenizer() {
  return Json::parse(R"({"added_tokens":[],"model":{"type":"BPE","unk_token":"<unk>",
    "vocab":{"<unk>":0,"a":1,"b":2,"\u2581":3,"ab":4,"abab":5},"merges":[["a","b"],"ab ab"]}})");
}

std::vector<TokenId> tokens_of(const Json& file, const std::string& text) {
  return read_tokenizer(file.dump()).encode(text, {});
}

std::string complaint_about(const std::string& file) {
  try {
    read_tokenizer(file);
    return "none";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

std::string complaint_with(const char* part, const Json& value) {
  Json file = small_tokenizer();
  file[Json::json_pointer(part)] = value;
  return complaint_about(file.dump());
}

// The letters a and b, a mark, and two in a row of the first: the tokens 1 to 4. What is not among them is left out.
TokenizerParts parts_of_letters() {
  TokenizerParts parts;
  TokenId id = 0;
  for (const char* const token : {"a", "b", "_", "aa"}) {
    parts.pairs.add_token(token, ++id);
    parts.texts.emplace(id, token);
  }
  parts.pairs.add_pair("a", "a");
  parts.pairs.set_rules({});
  return parts;
}

}  // namespace

TEST_CASE("what a pattern finds is removed, kept, or joined to what stands beside it") {
  const std::string text = ",a,,b,";
  CHECK(split_at_commas(text, Split::Behavior::kRemoved) == Words{"a", "b"});
  CHECK(split_at_commas(text, Split::Behavior::kIsolated) == Words{",", "a", ",", ",", "b", ","});
  CHECK(split_at_commas(text, Split::Behavior::kMergedWithPrevious) == Words{",", "a,", ",", "b,"});
  CHECK(split_at_commas(text, Split::Behavior::kMergedWithNext) == Words{",a", ",", ",b", ","});
  CHECK(split_at_commas(text, Split::Behavior::kContiguous) == Words{",", "a", ",,", "b", ","});
  CHECK(split_at_commas(text, Split::Behavior::kRemoved, true) == Words{",", ",", ",", ","});
  CHECK(words_by(LeadingSpace{}, "").empty());
}

TEST_CASE("pairs are joined in the order in which they were learnt, from the left") {
  CHECK(tokens_of(small_tokenizer(), "ababab") == std::vector<TokenId>{5, 4});
  CHECK(tokens_of(small_tokenizer(), "bab") == std::vector<TokenId>{2, 4});
  CHECK(tokens_of(small_tokenizer(), "aXYb") == std::vector<TokenId>{1, 0, 0, 2});
}

TEST_CASE("one word of a million characters becomes tokens as well") {
  std::string text;
  for (int n = 0; n < 500'000; ++n) text += "ab";
  const auto tokens = tokens_of(small_tokenizer(), text);
  CHECK(tokens.size() == 250'000);
  CHECK(std::vector<TokenId>(tokens.begin(), tokens.begin() + 3) == std::vector<TokenId>{5, 5, 5});
}

TEST_CASE("the longest of the added tokens that begin at one place is taken") {
  Json file = small_tokenizer();
  file["added_tokens"] = {{{"id", 10}, {"content", "<a>"}}, {{"id", 11}, {"content", "<a>b"}, {"lstrip", true}}};
  CHECK(tokens_of(file, "a \xC2\xA0\n<a>b<a>a<a") == std::vector<TokenId>{1, 11, 10, 1, 0, 1});
  const Tokenizer tokenizer = read_tokenizer(file.dump());
  CHECK(tokenizer.encode("<a>", {.finds_special = false}) == std::vector<TokenId>{0, 1, 0});
  CHECK(tokenizer.decode({11, 4, 3}) == "<a>bab ");
  CHECK(tokenizer.decode({99}) == std::nullopt);
}

TEST_CASE("a tokenizer that wants what is not understood is refused with its name") {
  CHECK(complaint_about(small_tokenizer().dump()) == "none");
  CHECK(complaint_with("/model/type", "WordPiece") ==
        "it has a model of the type WordPiece, which is not understood here");
  CHECK(complaint_with("/normalizer", {{"type", "Lowercase"}}) ==
        "it has the normalizer Lowercase, which is not understood here");
  CHECK(complaint_with("/pre_tokenizer", {{"type", "BertPreTokenizer"}}) ==
        "it has the pre_tokenizer BertPreTokenizer, which is not understood here");
  CHECK(complaint_with("/post_processor", {{"type", "RobertaProcessing"}}) ==
        "it has the post_processor RobertaProcessing, which is not understood here");
  CHECK(complaint_with("/model/end_of_word_suffix", "</w>") ==
        "it has end_of_word_suffix, which is not understood here");
  CHECK(complaint_with("/model/merges", Json::parse(R"([["a","z"]])")) ==
        "it joins \"a\" and \"z\", but these are not all tokens");
  CHECK(complaint_with("/model/merges", Json::array({"ab"})) == "one of the merges is no pair of tokens");
  CHECK(complaint_with("/model/vocab", {{"a", "1"}}) == "a token's id is \"1\"");
  for (const char* id : {"-1", "2147483648", "1.5", "null"}) {
    CHECK(complaint_with("/model/vocab/a", Json::parse(id)) == std::string("a token's id is ") + id);
    CHECK(complaint_with("/added_tokens", Json::array({{{"id", Json::parse(id)}, {"content", "x"}}})) ==
          std::string("a token's id is ") + id);
  }
  const Json pattern = {{"type", "Split"}, {"pattern", {{"Regex", "(a"}}}, {"behavior", "Isolated"}};
  CHECK(complaint_with("/pre_tokenizer", pattern).starts_with("the expression is wrong at its byte 3: "));
}

TEST_CASE("a file that is no tokenizer is refused, wherever it ends") {
  const std::string file = small_tokenizer().dump();
  for (std::size_t end = 0; end < file.size(); ++end) {
    INFO(file.substr(0, end));
    CHECK(complaint_about(file.substr(0, end)) != "none");
  }
  for (const char* text : {"[]", "1", "null", "{}", R"({"model":[]})", R"({"model":{"vocab":[1],"merges":{}}})",
                           R"({"model":{"vocab":{"a":{"b":1}}}})", R"({"model":{"merges":[[["a"]]]}})"}) {
    INFO(text);
    const std::string complaint = complaint_about(text);
    CHECK((complaint != "none" || std::string(text).find("vocab") != std::string::npos));
  }
  CHECK(complaint_about(std::string(100, '[')).find("nested") != std::string::npos);
}

TEST_CASE("an expression that never comes to an end is given up") {
  Json file = small_tokenizer();
  file["pre_tokenizer"] = {{"type", "Split"}, {"pattern", {{"Regex", "(a+a+)+[bd]"}}}, {"behavior", "Isolated"}};
  const Tokenizer tokenizer = read_tokenizer(file.dump());
  CHECK_THROWS_AS(tokenizer.encode(std::string(5000, 'a') + "c", {}), std::runtime_error);
}

TEST_CASE("an expression that another engine reads otherwise, or that may find nothing, is not understood") {
  for (const char* expression : {R"([a-z&&[^o]]+)", R"(\h+)", R"(\Ka)", R"(a$)", R"(^a)", R"((?m)a.b)", R"((*UCP)a)",
                                 R"([[a]b])", R"(a*)", R"((?=ab))", R"(\Ca)"}) {
    INFO(expression);
    CHECK_THROWS_AS(Pattern(expression), std::runtime_error);
  }
  CHECK_NOTHROW(Pattern(R"([^\r\n\p{L}\p{N}]?+\p{L}+|[\^$]|\$\[)"));
}

TEST_CASE("what would take for ever is given up") {
  Json file = small_tokenizer();
  file["normalizer"] = {{"type", "NFC"}};
  std::string marks = "a";
  for (int n = 0; n < 100'000; ++n) marks += n % 2 == 0 ? "\xCC\x81" : "\xCC\x96";
  const Tokenizer tokenizer = read_tokenizer(file.dump());
  CHECK_THROWS_AS(tokenizer.encode(marks, {}), std::runtime_error);
  CHECK(tokenizer.encode(marks.substr(0, 101), {}).size() > 1);

  file["normalizer"] = {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", std::string(100'000, 'b')}};
  CHECK_THROWS_AS(read_tokenizer(file.dump()).encode(std::string(1000, 'a'), {}), std::runtime_error);

  int asked = 0;
  const auto give_up = [&asked] {
    if (++asked == 3) throw std::runtime_error("enough");
  };
  file["normalizer"] = nullptr;
  file["added_tokens"] = Json::array({{{"id", 10}, {"content", "<a>"}}});
  CHECK_THROWS_AS(read_tokenizer(file.dump()).encode("b<a>b<a>b", {.keep_going = give_up}), std::runtime_error);
  CHECK(asked == 3);

  file["model"]["vocab"][std::string(200'000, 'x') + "\xE2\x96\x81"] = 11;
  CHECK_NOTHROW(read_tokenizer(file.dump()));
}

TEST_CASE("null counts as absent, and nothing may follow where bytes are written as characters") {
  CHECK(complaint_with("/model/byte_fallback", nullptr) == "none");
  const Json steps = {{"type", "Sequence"},
                      {"pretokenizers", Json::array({{{"type", "ByteLevel"}}, {{"type", "Digits"}}})}};
  CHECK(complaint_with("/pre_tokenizer", steps) ==
        "it has the pre_tokenizer Digits behind ByteLevel, which is not understood here");
  const Words words = words_by(Metaspace{"_", Metaspace::Prepend::kFirst}, " a  b");
  CHECK(words == Words{"_a", "_", "_b"});
}

TEST_CASE("tokens that somebody may write are found also where marks of the format are not") {
  Json file = small_tokenizer();
  file["added_tokens"] = {{{"id", 10}, {"content", "<a>"}, {"special", true}},
                          {{"id", 11}, {"content", "<b>"}, {"special", false}}};
  const Tokenizer tokenizer = read_tokenizer(file.dump());
  CHECK(tokenizer.encode("<a><b>", {.finds_special = false}) == std::vector<TokenId>{0, 1, 0, 11});
}

TEST_CASE("what stands around each text is there where it is asked for, also around none") {
  TokenizerParts parts = parts_of_letters();
  parts.before = {100, 101};
  parts.after = {102};
  const Tokenizer tokenizer(std::move(parts));
  CHECK(tokenizer.encode("ab", {}) == std::vector<TokenId>{1, 2});
  CHECK(tokenizer.encode("ab", {.with_special = true}) == std::vector<TokenId>{100, 101, 1, 2, 102});
  CHECK(tokenizer.encode("", {.with_special = true}) == std::vector<TokenId>{100, 101, 102});
  CHECK(tokenizer.encode("", {}).empty());
}

TEST_CASE("some tokens are found in a text as it is, and others in what it is normalised to") {
  TokenizerParts parts = parts_of_letters();
  parts.normalizers.emplace_back(Replace{Pattern::of_text("X"), "b"});
  parts.added.add("<X>", {.id = 50});
  parts.normalised.add("<b>", {.id = 60});
  parts.normalised.add("<X>", {.id = 70});
  const Tokenizer tokenizer(std::move(parts));
  CHECK(tokenizer.encode("a<X>X<b>a", {}) == std::vector<TokenId>{1, 50, 2, 60, 1});
  CHECK(tokenizer.encode("a<X>X<b>a", {.finds_special = false}) == std::vector<TokenId>{1, 2, 2, 2, 1});
}

TEST_CASE("tokens that were found part the text: nothing is joined across them") {
  TokenizerParts parts = parts_of_letters();
  parts.added.add("|", {.id = 50});
  parts.normalised.add("/", {.id = 60});
  const Tokenizer tokenizer(std::move(parts));
  CHECK(tokenizer.encode("aa", {}) == std::vector<TokenId>{4});
  CHECK(tokenizer.encode("a|a/a", {}) == std::vector<TokenId>{1, 50, 1, 60, 1});
}

TEST_CASE("only what begins the whole text is its first word, and nothing is where a token begins it") {
  TokenizerParts parts = parts_of_letters();
  parts.pre_tokenizers.emplace_back(Metaspace{"_", Metaspace::Prepend::kFirst});
  parts.added.add("|", {.id = 50});
  parts.normalised.add("/", {.id = 60});
  const Tokenizer tokenizer(std::move(parts));
  CHECK(tokenizer.encode("a|a/a", {}) == std::vector<TokenId>{3, 1, 50, 1, 60, 1});
  CHECK(tokenizer.encode("|a/a", {}) == std::vector<TokenId>{50, 1, 60, 1});
  CHECK(tokenizer.encode("/a|a", {}) == std::vector<TokenId>{60, 1, 50, 1});
}

TEST_CASE("tokens are bytes, and a text of them is whole or nothing") {
  TokenizerParts parts = parts_of_letters();
  parts.texts.emplace(10, "\xC3");
  parts.texts.emplace(11, "\xA9");
  parts.texts.emplace(12, "");
  const Tokenizer tokenizer(std::move(parts));
  CHECK(tokenizer.text_of(10) == "\xC3");
  CHECK(tokenizer.text_of(12) == "");
  CHECK(tokenizer.text_of(13) == std::nullopt);
  CHECK(tokenizer.text_of(-1) == std::nullopt);
  CHECK(tokenizer.decode({1, 10, 11, 12}) == "a\xC3\xA9");
  CHECK(tokenizer.decode({1, 13}) == std::nullopt);
  CHECK(tokenizer.decode({}) == "");
}

TEST_CASE("the space that a tokenizer has put before a text is taken off again, once and nowhere else") {
  const auto decoded = [](bool begins_with_space, const std::vector<TokenId>& tokens) {
    TokenizerParts parts = parts_of_letters();
    parts.texts.emplace(20, "  a");
    parts.begins_with_space = begins_with_space;
    return Tokenizer(std::move(parts)).decode(tokens);
  };
  CHECK(decoded(true, {20, 20}) == " a  a");
  CHECK(decoded(true, {1, 20}) == "a  a");
  CHECK(decoded(false, {20, 20}) == "  a  a");
}
