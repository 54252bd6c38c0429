#include "chat/host/embedding_maker.hpp"

#include "chat/dialects/embedding_request.hpp"
#include "chat/host/chat_host.hpp"
#include "server/chat/host/scripted_pool.hpp"
#include "support/catch.hpp"

#include <cmath>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;
using namespace rkllm_mcp::chat::testing;

namespace {

// Two rows for each text: (bytes, 0) and (0, bytes).
class TwoRows final : public EmbeddingSeam {
 public:
  explicit TwoRows(Actions& actions) : actions_(actions) {}
  const EmbeddingFacts& facts() const override { return known; }
  void hidden_rows(std::string text, std::function<void(HiddenRows)> done) override {
    texts.push_back(text);
    const auto bytes = static_cast<float>(text.size());
    HiddenRows rows{.complaint = "", .values = {bytes, 0, 0, bytes}, .rows = 2, .columns = 2};
    if (text.size() > 64) rows = {.complaint = "rkllm_run returned -1"};
    actions_.emplace_back([rows, done = std::move(done)] { done(rows); });
  }
  void abort() override {}

  EmbeddingFacts known{.name = "e", .max_context_len = 64, .pooling = Pooling::kLast, .suffix = "!"};
  std::vector<std::string> texts;

 private:
  Actions& actions_;
};

}  // namespace

TEST_CASE("rows are pooled as the preset says, and have length 1") {
  const HiddenRows rows{.complaint = "", .values = {3, 4, 0, 2}, .rows = 2, .columns = 2};
  CHECK(pooled(rows, Pooling::kLast, {}) == std::vector<float>{0, 1});
  CHECK(pooled(rows, Pooling::kFirst, {}) == std::vector<float>{0.6F, 0.8F});
  const auto mean = pooled(rows, Pooling::kMean, {});
  CHECK(std::abs(mean.at(0) * mean.at(0) + mean.at(1) * mean.at(1) - 1) < 1e-6F);
  CHECK(pooled(rows, Pooling::kFirst, 1) == std::vector<float>{1});
  CHECK(pooled({}, Pooling::kMean, {}).empty());
}

TEST_CASE("each input is a run of its own with the suffix behind it, and too long an input names itself") {
  ScriptedPool pool;
  TwoRows rows(pool.actions);
  pool.embedder = &rows;
  ChatHost host(pool, {});
  std::optional<Embeddings> made;
  std::optional<TurnError> error;
  const auto ask = [&](EmbeddingWish wish) {
    made.reset();
    error.reset();
    wish.model = "qwen3-0.6b";
    const auto running = host.embed(
        std::move(wish), {}, "", [&](const Embeddings& all) { made = all; },
        [&](const TurnError& why) { error = why; });
    pool.settle();
  };
  ask({.inputs = {"a", "bb"}});
  REQUIRE(made);
  CHECK(rows.texts == std::vector<std::string>{"a!", "bb!"});
  CHECK(made->vectors == std::vector<std::vector<float>>{{0, 1}, {0, 1}});
  CHECK(made->tokens == 4);
  ask({.inputs = {"a", std::string(70, 'b')}});
  REQUIRE(error);
  CHECK(error->field() == "input[1]");
  ask({.inputs = {std::string(70, 'b')}, .drops_end = true});
  CHECK(made);
}

TEST_CASE("base64 has the floats' bytes, the lowest first") {
  const auto request = read_embedding(
      EmbeddingSurface::kOpenAi, Json::parse(R"({"model":"m","input":"x","encoding_format":"base64","user":"u"})"));
  CHECK(request.ignored == std::vector<std::string>{"user"});
  const Json reply =
      Json::parse(embedding_reply(EmbeddingSurface::kOpenAi, request, {.vectors = {{1.0F}}, .tokens = 1}));
  CHECK(reply["data"][0]["embedding"] == "AACAPw==");
  CHECK_THROWS_AS(read_embedding(EmbeddingSurface::kOpenAi, Json::parse(R"({"input":[1,2]})")), TurnError);
}
