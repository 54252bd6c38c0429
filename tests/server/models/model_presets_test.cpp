#include "models/model_presets.hpp"

#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <string>

namespace rkllm_mcp {
namespace {

const Json kModels = Json::parse(R"({
  "big": {"param": {"model_path": "/big", "top_k": 40, "extend_param": {"n_batch": 2, "base_domain_id": 1}}},
  "small": {"autoload": true}
})");

std::string refusal(const Json& models, const Json& name) {
  try {
    with_preset(models, Json{{"model", name}});
  } catch (const InvalidParams& error) {
    CHECK(error.data()["path"] == "params.model");
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a preset's name stands for its parameters") {
  CHECK(with_preset(kModels, {{"model", "big"}}) == Json{{"param", kModels["big"]["param"]}});
  CHECK(with_preset(kModels, {{"model", "small"}}) == Json{{"param", Json::object()}});
  CHECK(with_preset(kModels, {{"model", "big"}, {"param", nullptr}})["param"]["top_k"] == 40);
}

TEST_CASE("fields of the call go before those of the preset, at every depth") {
  const Json params = with_preset(
      kModels, Json::parse(R"({"model":"big","param":{"top_k":1,"extend_param":{"base_domain_id":7},"n_keep":4}})"));
  CHECK(params == Json::parse(R"({"param":{"model_path":"/big","top_k":1,
                                           "extend_param":{"n_batch":2,"base_domain_id":7},"n_keep":4}})"));
}

TEST_CASE("without a name nothing is replaced, and null is absence") {
  const Json params{{"param", {{"model_path", "/x"}}}};
  CHECK(with_preset(kModels, params) == params);
  CHECK(with_preset(kModels, {{"model", nullptr}, {"param", params["param"]}}) == params);
}

TEST_CASE("a name that no preset has is refused with those that there are, and the key for files") {
  CHECK(refusal(kModels, "bog") ==
        "params.model: no preset \"bog\"; did you mean \"big\"? (there are big, small; "
        "a file is named in params.param.model_path)");
  CHECK(refusal(Json::object(), "/models/x.rkllm") ==
        "params.model: no preset \"/models/x.rkllm\" (the settings have none: models; "
        "a file is named in params.param.model_path)");
  CHECK(refusal(kModels, std::string(100'000, 'x')).size() < 200);
  CHECK(refusal(kModels, 3) == "params.model: expected string");
}

}  // namespace rkllm_mcp
