#include "chat/http/embedding_endpoints.hpp"

#include "server/chat/http/endpoint_desk.hpp"
#include "support/catch.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;
using namespace rkllm_mcp::chat::testing;

namespace {

// One row for each text: a one, and so many zeros behind it.
class OneRow final : public EmbeddingSeam {
 public:
  explicit OneRow(Actions& actions) : actions_(actions) {}
  const EmbeddingFacts& facts() const override { return known_; }
  void hidden_rows(std::string text, std::function<void(HiddenRows)> done) override {
    texts.push_back(std::move(text));
    HiddenRows rows{.complaint = complaint, .values = std::vector<float>(columns), .rows = 1, .columns = columns};
    rows.values[0] = 1;
    actions_.emplace_back([rows, done = std::move(done)] { done(rows); });
  }

  std::vector<std::string> texts;
  std::size_t columns = 2;
  std::string complaint;

 private:
  const EmbeddingFacts known_{.max_context_len = 64};
  Actions& actions_;
};

struct EmbeddingDesk : EndpointDesk {
  EmbeddingDesk() { lender.embedder = &model; }

  OneRow model{lender.actions};
  SideThread beside{loop.loop()};
  EmbeddingEndpoints endpoints{host, open, beside};

 private:
  bool take(Visit& visit, const Json& body) override { return endpoints.post(visit, body); }
};

const Json kTwoInputs{{"model", "qwen3-0.6b"}, {"input", {"a", "b"}}};

}  // namespace

TEST_CASE("embeddings are made at three paths, each of which has its publisher's words") {
  EmbeddingDesk desk;
  const Json openai = desk.answer_to("/v1/embeddings", kTwoInputs);
  CHECK(openai["object"] == "list");
  REQUIRE(openai["data"].size() == 2);
  CHECK(openai["data"][1]["index"] == 1);
  CHECK(openai["data"][1]["embedding"] == Json{1.0, 0.0});
  CHECK(desk.client->answer->status == 200);
  const Json ollama = desk.answer_to("/api/embed", kTwoInputs);
  CHECK(ollama["embeddings"] == Json{{1.0, 0.0}, {1.0, 0.0}});
  const Json older = desk.answer_to("/api/embeddings", {{"model", "qwen3-0.6b"}, {"prompt", "a"}});
  CHECK(older["embedding"] == Json{1.0, 0.0});
  CHECK(desk.model.texts == std::vector<std::string>{"a", "b", "a", "b", "a"});
}

TEST_CASE("other paths are left to others") {
  EmbeddingDesk desk;
  for (const char* const path : {"/v1/embeddings/x", "/api/embedding", "/v1/chat/completions"}) {
    CHECK_FALSE(desk.post(path, kTwoInputs));
  }
  CHECK(desk.open.size() == 0);
}

TEST_CASE("the answer's headers tell the place in the queue, and fields that were not looked at") {
  EmbeddingDesk desk;
  Json asked = kTwoInputs;
  desk.answer_to("/v1/embeddings", asked);
  const auto header = [&desk](const char* name) {
    return std::string(desk.client->answer->headers.find(name).value_or("none"));
  };
  CHECK(header("x-rkllm-queue-position") == "0");
  CHECK(header("x-rkllm-ignored") == "none");
  CHECK(header("x-rkllm-cut-inputs") == "none");
  asked["user"] = "somebody";
  desk.answer_to("/v1/embeddings", asked);
  CHECK(header("x-rkllm-ignored") == "user");
}

TEST_CASE("an answer of many numbers is written beside the loop, and is the same") {
  EmbeddingDesk desk;
  desk.model.columns = 5000;
  const Json answer = desk.answer_to("/api/embed", kTwoInputs);
  REQUIRE(answer["embeddings"].size() == 2);
  CHECK(answer["embeddings"][1].size() == 5000);
  CHECK(answer["embeddings"][1][0] == 1.0);
}

TEST_CASE("an answer that will be too long is refused once the first input is made, as the fault of the inputs") {
  EmbeddingDesk desk;
  desk.rules.most_reply_bytes = 1000;
  desk.model.columns = 400;
  const Json error = desk.answer_to("/v1/embeddings", kTwoInputs)["error"];
  CHECK(desk.client->answer->status == 400);
  CHECK(error["param"] == "input");
  CHECK(desk.model.texts.size() == 1);
}

TEST_CASE("what is wrong with a request is thrown at once, and what the model cannot is the answer") {
  EmbeddingDesk desk;
  CHECK_THROWS_AS(desk.post("/v1/embeddings", Json{{"model", "qwen3-0.6b"}}), TurnError);
  CHECK_THROWS_AS(desk.post("/v1/embeddings", Json{{"model", "other"}, {"input", "a"}}), TurnError);
  CHECK(desk.open.size() == 0);
  desk.model.complaint = "rkllm_run returned -1";
  CHECK_THAT(desk.answer_to("/v1/embeddings", kTwoInputs).dump(), test::has_text("rkllm_run returned -1"));
  CHECK(desk.client->answer->status >= 400);
}

TEST_CASE("a client that has gone is answered nothing, and its inputs are not made any more") {
  EmbeddingDesk desk;
  REQUIRE(desk.post("/v1/embeddings", kTwoInputs));
  desk.client->close();
  desk.loop.settle();
  desk.lender.settle();
  CHECK(desk.open.size() == 0);
  CHECK_FALSE(desk.client->answer);
  CHECK(desk.model.texts.empty());
  CHECK_FALSE(desk.lender.embeddings_leased);
}
