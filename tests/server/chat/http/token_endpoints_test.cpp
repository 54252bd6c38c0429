#include "chat/http/token_endpoints.hpp"

#include "server/chat/http/endpoint_desk.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"

#include <memory>
#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;
using namespace rkllm_mcp::chat::testing;

namespace {

constexpr const char* kLetters = R"({"added_tokens":[],"model":{"type":"BPE","unk_token":"<unk>",
  "vocab":{"<unk>":0,"a":1,"b":2,"ab":4},"merges":[["a","b"]]}})";

// One model, whose tokenizer the test writes, and a client.
struct TokenDesk : EndpointDesk {
  TokenDesk() { lender.info.path = folder / "qwen3-0.6b.rkllm"; }

  void write_tokenizer() const { test::write_file(folder / "qwen3-0.6b.tokenizer.json", kLetters); }
  Json counted(const std::string& text) {
    return answer_to("/v1/messages/count_tokens",
                     Json{{"model", "qwen3-0.6b"}, {"messages", {{{"role", "user"}, {"content", text}}}}});
  }

  const test::TemporaryDirectory folder;
  TokenEndpoints endpoints{loop.loop(), host, open, {}};

 private:
  bool take(Visit& visit, const Json& body) override { return endpoints.post(visit, body); }
};

}  // namespace

TEST_CASE("paths of others are left to them") {
  TokenDesk desk;
  for (const char* const path : {"/v1/messages", "/tokenize/x", "/", "/v1/embeddings"}) {
    CHECK_FALSE(desk.post(path, Json::object()));
    CHECK_FALSE(desk.client->answer);
  }
}

TEST_CASE("a text becomes tokens and tokens a text, by the tokenizer beside the model") {
  TokenDesk desk;
  desk.write_tokenizer();
  CHECK(desk.answer_to("/tokenize", {{"content", "aba"}}) == Json{{"tokens", {4, 1}}});
  CHECK(desk.client->answer->status == 200);
  CHECK(desk.answer_to("/detokenize", {{"tokens", {4, 1}}, {"model", "qwen3-0.6b"}}) == Json{{"content", "aba"}});
  CHECK(desk.lender.model.runs.empty());
}

TEST_CASE("what is wrong is said: at once of the request, and once it is known of the tokenizer and its tokens") {
  TokenDesk desk;
  CHECK_THROWS_AS(desk.post("/tokenize", Json::object()), TurnError);
  CHECK_THROWS_AS(desk.post("/tokenize", Json{{"content", "a"}, {"model", "other"}}), TurnError);
  CHECK_THROWS_AS(desk.post("/detokenize", Json{{"tokens", {"x"}}}), TurnError);
  CHECK(desk.open.size() == 0);
  CHECK_THAT(desk.answer_to("/tokenize", {{"content", "a"}}).dump(), test::has_text("no tokenizer.json"));
  CHECK(desk.client->answer->status == 400);
  desk.write_tokenizer();
  CHECK_THAT(desk.answer_to("/detokenize", {{"tokens", {77}}}).dump(), test::has_text("no token 77"));
  CHECK(desk.client->answer->status == 400);
}

TEST_CASE("an answer that is longer than it may be is an error of the text") {
  TokenDesk desk;
  desk.write_tokenizer();
  desk.rules.most_reply_bytes = 20;
  CHECK_THAT(desk.answer_to("/tokenize", {{"content", std::string(100, 'a')}}).dump(),
             test::has_text("limits.max_reply_bytes"));
  CHECK(desk.client->answer->status == 400);
}

TEST_CASE("a client that has gone is answered nothing") {
  TokenDesk desk;
  desk.write_tokenizer();
  REQUIRE(desk.post("/tokenize", {{"content", "ab"}}));
  const auto gone = desk.client;
  gone->close();
  CHECK(desk.answer_to("/tokenize", {{"content", "ab"}}) == Json{{"tokens", {4}}});  // comes behind it
  CHECK_FALSE(gone->answer);
}

TEST_CASE("a server that ends tells who waits for tokens so") {
  TokenDesk desk;
  REQUIRE(desk.post("/tokenize", {{"content", "ab"}}));
  desk.open.give_up_all(TurnError::try_later(ErrorKind::kNoRoom, "the server is ending", 1));
  REQUIRE(desk.client->answer);
  CHECK_THAT(desk.client->answer->body, test::has_text("the server is ending"));
}

TEST_CASE("a prompt is counted by the tokenizer, with all that the model's template puts around it") {
  TokenDesk desk;
  desk.write_tokenizer();
  const Json few = desk.counted("ab");
  CHECK(few.size() == 1);  // no estimate
  CHECK(few["input_tokens"].get<int>() > 1);
  CHECK(desk.counted("abab")["input_tokens"].get<int>() == few["input_tokens"].get<int>() + 1);
  CHECK(desk.lender.model.runs.empty());
}

TEST_CASE("without a tokenizer an idle model counts a prompt by its prefill, and no model is loaded for it") {
  TokenDesk desk;
  const Json guessed = desk.counted("How many?");
  CHECK(guessed["estimate"] == true);
  CHECK(guessed["input_tokens"].get<int>() > 0);
  CHECK(desk.lender.wishes.empty());
  desk.lender.info.state = ModelState::kLoaded;
  desk.lender.info.loaded_since_s = 1;
  const Json counted = desk.counted("How many?");
  REQUIRE(desk.lender.model.runs.size() == 1);
  CHECK(counted == Json{{"input_tokens", desk.lender.model.runs[0].prompt.size() + 1}});
}
