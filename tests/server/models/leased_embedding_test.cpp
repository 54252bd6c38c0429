// What embeddings ask of a leased model, as calls of the runtime, and what these come to. Turns: leased_seams_test.cpp.
#include "models/leased_seams.hpp"

#include "seam_bench.hpp"
#include "support/catch.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

// A model leased for embeddings, and what comes of its texts.
struct RowsBench : SeamBench {
  explicit RowsBench(std::span<const Method> methods = kNewApi) : SeamBench(methods) {
    load();
    take_lease();
    model = std::make_unique<LeasedEmbeddingModel>(waiting.loop(), runtime, usual_limits<TokenStream::Options>(), lease,
                                                   loaded);
  }

  void begin() {
    rows.reset();
    model->hidden_rows("Hi", [this](chat::HiddenRows told) { rows = std::move(told); });
    CHECK_FALSE(rows);
  }
  chat::HiddenRows ask() {
    begin();
    REQUIRE(waiting.until([this] { return rows.has_value(); }));
    return *rows;
  }
  chat::HiddenRows ask_of_run(CallOutcome outcome) {
    will("rkllm_run", std::move(outcome));
    return ask();
  }

  std::unique_ptr<LeasedEmbeddingModel> model;
  std::optional<chat::HiddenRows> rows;
};

void give_rows(const CallRequest& request, std::string_view field, const std::vector<float>& values, std::size_t rows) {
  request.observer->on_rows(
      {field, "values", "num_tokens", "embd_size", values.data(), rows, rows == 0 ? 0 : values.size() / rows});
}

}  // namespace

TEST_CASE("the template is switched off for embeddings once in each lease, and the cache is cleared for every text") {
  RowsBench bench;
  bench.will("rkllm_set_chat_template", seam_error(CallFailed("rkllm_set_chat_template", -1)));
  CHECK(bench.ask().complaint == "rkllm_set_chat_template returned -1");  // and is tried again
  bench.ask();
  bench.ask();
  CHECK(bench.names() == SeamNames{"rkllm_set_chat_template", "rkllm_set_chat_template", "rkllm_clear_kv_cache",
                                   "rkllm_run", "rkllm_clear_kv_cache", "rkllm_run"});
  const auto calls = bench.calls();
  CHECK(calls[2].params["keep_system_prompt"] == 0);
  CHECK(calls[3].params["rkllm_input"] == Json{{"input_type", "RKLLM_INPUT_PROMPT"}, {"prompt_input", "Hi"}});
  CHECK(calls[3].params["rkllm_infer_params"] ==
        Json{{"mode", "RKLLM_INFER_GET_LAST_HIDDEN_LAYER"}, {"keep_history", 0}});
}

TEST_CASE("rows are those of the last hidden layer, whatever else comes with them") {
  RowsBench bench;
  bench.will("rkllm_run", [](const CallRequest& request) {
    give_rows(request, "logits", {9, 9}, 1);
    give_rows(request, "last_hidden_layer", {1, 2, 3, 4, 5, 6}, 2);
    return CallOutcome{};
  });
  auto rows = bench.ask();
  CHECK(rows.complaint.empty());
  CHECK(rows.values == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(rows.rows == 2);
  CHECK(rows.columns == 3);

  bench.will("rkllm_run", [](const CallRequest& request) {
    give_rows(request, "logits", {9, 9}, 1);
    return CallOutcome{};
  });
  rows = bench.ask();
  CHECK(rows.complaint.empty());
  CHECK(rows.rows == 0);
  CHECK(rows.values.empty());
}

TEST_CASE("why there are no rows is told: not possible with this runtime, refused, broken off or aborted") {
  {
    RowsBench old(kOldApi);
    const auto rows = old.ask();
    CHECK(rows.is_unsupported);
    CHECK_FALSE(rows.is_refused);
    CHECK_THAT(rows.complaint, has_text("rkllm_set_chat_template does not exist in runtime 1.3.0"));
  }
  RowsBench bench;
  bench.will("rkllm_clear_kv_cache", seam_error(CallFailed("rkllm_clear_kv_cache", -1)));
  auto rows = bench.ask();
  CHECK(rows.complaint == "rkllm_clear_kv_cache returned -1");
  CHECK_FALSE(rows.is_refused);  // that is no text's fault
  CHECK_FALSE(rows.is_unsupported);
  CHECK(bench.names().back() == "rkllm_clear_kv_cache");

  rows = bench.ask_of_run(seam_error(CallFailed("rkllm_run", -1)));
  CHECK(rows.is_refused);
  CHECK(rows.complaint == "rkllm_run returned -1");
  rows =
      bench.ask_of_run(seam_error(RpcError(ErrorCode::kCallFailed, "broke off", Json{{"state", "RKLLM_RUN_ERROR"}})));
  CHECK_FALSE(rows.is_refused);
  CHECK(rows.complaint == "broke off");
  rows = bench.ask_of_run(seam_error(RpcError(ErrorCode::kRuntimeUnavailable, "the worker died")));
  CHECK_FALSE(rows.is_refused);
  CallOutcome aborted;
  aborted.aborted = true;
  rows = bench.ask_of_run(std::move(aborted));
  CHECK(rows.complaint == "the run was aborted");
}

}  // namespace rkllm_mcp::test
