#include "chat/host/embedding_maker.hpp"

#include "chat/dialects/embedding_request.hpp"
#include "chat/host/chat_host.hpp"
#include "server/chat/host/scripted_lender.hpp"
#include "support/catch.hpp"

#include <algorithm>
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
    if (text.size() > bytes_that_fit) rows = {.complaint = "rkllm_run returned -1", .is_refused = !is_dead};
    if (lacks_functions) rows = {.complaint = "rkllm_clear_kv_cache does not exist", .is_unsupported = true};
    if (gives_nothing) rows = {};
    actions_.emplace_back([rows, done = std::move(done)] { done(rows); });
  }

  EmbeddingFacts known{.max_context_len = 64, .pooling = Pooling::kLast, .suffix = "!"};
  std::vector<std::string> texts;
  std::size_t bytes_that_fit = 64;
  bool is_dead = false;  // so that all runs fail
  bool lacks_functions = false;
  bool gives_nothing = false;

 private:
  Actions& actions_;
};

}  // namespace

TEST_CASE("with nothing to embed Ollama's requests only load the model") {
  for (const auto surface : {EmbeddingSurface::kOllama, EmbeddingSurface::kOllamaOlder}) {
    const bool is_older = surface == EmbeddingSurface::kOllamaOlder;
    const std::string field = is_older ? "prompt" : "input";
    for (const Json& nothing : {Json(""), Json(nullptr), is_older ? Json("") : Json::array()}) {
      const EmbeddingRequest request = read_embedding(surface, {{"model", "qwen3-0.6b"}, {field, nothing}});
      CHECK(request.wish.inputs.empty());
      ScriptedLender lender;
      TwoRows rows(lender.actions);
      lender.embedder = &rows;
      ChatHost host(lender, {});
      std::optional<Embeddings> made;
      const auto running = host.embed(
          request.wish, {}, "peer", [&made](const Embeddings& told) { made = told; }, [](const TurnError&) {});
      lender.settle();
      REQUIRE(made);
      CHECK(rows.texts.empty());
      const Json reply = Json::parse(embedding_reply(surface, request, *made));
      CHECK(reply.at(is_older ? "embedding" : "embeddings") == Json::array());
    }
  }
  CHECK_THROWS_WITH(read_embedding(EmbeddingSurface::kOpenAi, {{"input", ""}}), test::has_text("not empty"));
}

TEST_CASE("rows are pooled as the preset says, and have length 1") {
  const HiddenRows rows{.complaint = "", .values = {3, 4, 0, 2}, .rows = 2, .columns = 2};
  CHECK(pooled(rows, Pooling::kLast, {}) == std::vector<float>{0, 1});
  CHECK(pooled(rows, Pooling::kFirst, {}) == std::vector<float>{0.6F, 0.8F});
  const auto mean = pooled(rows, Pooling::kMean, {});
  CHECK(std::abs(mean.at(0) * mean.at(0) + mean.at(1) * mean.at(1) - 1) < 1e-6F);
  CHECK(pooled(rows, Pooling::kFirst, 1) == std::vector<float>{1});
  CHECK(pooled({}, Pooling::kMean, {}).empty());
}

TEST_CASE("a runtime or a model that has no embeddings is the model's fault, and not the server's") {
  ScriptedLender lender;
  TwoRows rows(lender.actions);
  lender.embedder = &rows;
  ChatHost host(lender, {});
  const auto refusal = [&] {
    std::optional<TurnError> error;
    const auto running = host.embed(
        {.model = "qwen3-0.6b", .inputs = {"x"}}, {}, "peer", [](const Embeddings&) {},
        [&error](const TurnError& why) { error = why; });
    lender.settle();
    return error;
  };
  rows.lacks_functions = true;
  REQUIRE(refusal());
  CHECK(refusal()->kind() == ErrorKind::kNotSupported);
  rows.lacks_functions = false;
  rows.gives_nothing = true;
  REQUIRE(refusal());
  CHECK(refusal()->kind() == ErrorKind::kNotSupported);
  rows.gives_nothing = false;
  rows.known.n_batch = 3;
  REQUIRE(refusal());
  CHECK_THAT(refusal()->what(), rkllm_mcp::test::has_text("3 prompts in each run"));
}

TEST_CASE("each input is a run of its own with the suffix behind it, and too long an input names itself") {
  ScriptedLender lender;
  TwoRows rows(lender.actions);
  lender.embedder = &rows;
  ChatHost host(lender, {});
  std::optional<Embeddings> made;
  std::optional<TurnError> error;
  const auto ask = [&](EmbeddingWish wish) {
    made.reset();
    error.reset();
    wish.model = "qwen3-0.6b";
    const auto running = host.embed(
        std::move(wish), {}, "", [&](const Embeddings& all) { made = all; },
        [&](const TurnError& why) { error = why; });
    lender.settle();
  };
  ask({.inputs = {"a", "bb"}});
  REQUIRE(made);
  CHECK(rows.texts == std::vector<std::string>{"a!", "bb!"});
  CHECK(made->vectors == std::vector<std::vector<float>>{{0, 1}, {0, 1}});
  CHECK(made->tokens == 4);
  ask({.inputs = {"a", std::string(70, 'b')}});
  REQUIRE(error);
  CHECK(error->field() == "input[1]");
}

TEST_CASE("a text that is too long keeps what fits of it, by a few runs, where that is wished, and is named") {
  ScriptedLender lender;
  TwoRows rows(lender.actions);
  lender.embedder = &rows;
  ChatHost host(lender, {});
  std::optional<Embeddings> made;
  std::optional<TurnError> error;
  const auto ask = [&](EmbeddingWish wish) {
    rows.texts.clear();
    made.reset();
    error.reset();
    wish.model = "qwen3-0.6b";
    const auto running = host.embed(
        std::move(wish), {}, "", [&](const Embeddings& all) { made = all; },
        [&](const TurnError& why) { error = why; });
    lender.settle();
  };
  std::string long_text;
  for (int i = 0; i < 500; ++i) long_text += "é";  // two bytes each
  for (const std::size_t fit : {64U, 100U, 333U, 900U}) {
    INFO(fit);
    rows.bytes_that_fit = fit;
    ask({.inputs = {"a", long_text, "b"}, .drops_end = true});
    REQUIRE(made);
    CHECK(made->vectors.size() == 3);
    CHECK(made->cut == std::vector<std::size_t>{1});
    CHECK(rows.texts.size() <= 11);
    std::size_t longest = 0;
    for (const std::string& text : rows.texts) {
      if (text.size() <= fit) longest = std::max(longest, text.size());
      CHECK(text.size() % 2 == (text.size() <= 2 ? 0 : 1));  // whole characters, and the suffix
    }
    CHECK(longest + 32 > fit);
  }
  // The worker has died: that is no fault of the text.
  rows.bytes_that_fit = 0;
  rows.is_dead = true;
  for (const bool drops_end : {false, true}) {
    ask({.inputs = {long_text}, .drops_end = drops_end});
    REQUIRE(error);
    CHECK(error->kind() == ErrorKind::kRuntimeFailed);
    CHECK(rows.texts.size() == 1);
  }
}

TEST_CASE("an answer of embeddings that would be too much is refused when the first of them is there") {
  ScriptedLender lender;
  TwoRows rows(lender.actions);
  lender.embedder = &rows;
  ChatHost host(lender, {});
  std::optional<TurnError> error;
  std::size_t expected = 0;
  const auto check_first = [&](const std::vector<float>& first, std::size_t count) {
    expected = first.size() * count;
    throw TurnError::bad_field("input", "too much");
  };
  const auto running = host.embed(
      {.model = "qwen3-0.6b", .inputs = {"a", "b", "c"}}, {}, "", [](const Embeddings&) {},
      [&](const TurnError& why) { error = why; }, check_first);
  lender.settle();
  REQUIRE(error);
  CHECK(error->field() == "input");
  CHECK(expected == 6);
  CHECK(rows.texts.size() == 1);
}

TEST_CASE("the header that names inputs which were cut stays short") {
  CHECK(cut_inputs_header({}).empty());
  CHECK(cut_inputs_header({0}) == "0");
  CHECK(cut_inputs_header({0, 3, 4, 5, 9}) == "0, 3-5, 9");
  std::vector<std::size_t> odd;
  for (std::size_t i = 1; i < 2048; i += 2) odd.push_back(i);
  CHECK(cut_inputs_header(odd).size() < 1100);
  CHECK_THAT(cut_inputs_header(odd), rkllm_mcp::test::has_text(" more"));
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
