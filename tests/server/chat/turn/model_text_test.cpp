#include "chat/turn/model_text.hpp"

#include "support/catch.hpp"

#include <cstdint>
#include <optional>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

TEST_CASE("of a model of which nothing is known all members are there, and null where they are not known") {
  CHECK(description_of({}) == Json::parse(R"({"name":"","aliases":[],"path":null,"handle":null,"size":null,
      "modified_s":null,"platform":null,"context":null,"state":"on_disk","loaded":false,"loaded_since_s":null,
      "expires_s":null,"load_s":null,"queued":0})"));
}

TEST_CASE("what is known of a model is told") {
  ModelDescription model;
  model.name = "qwen3";
  model.aliases = {"gpt-4o", "other"};
  model.path = "/models/qwen3.rkllm";
  model.handle = "3";
  model.bytes = 7;
  model.modified_s = 1;
  model.platform = "rk3588";
  model.context = 4096;
  model.state = ModelState::kLoaded;
  model.loaded_since_s = 2;
  model.expires_s = 3;
  model.load_s = 1.5;
  model.waiting = 4;
  CHECK(description_of(model) == Json::parse(R"({"name":"qwen3","aliases":["gpt-4o","other"],
      "path":"/models/qwen3.rkllm","handle":"3","size":7,"modified_s":1,"platform":"rk3588","context":4096,
      "state":"loaded","loaded":true,"loaded_since_s":2,"expires_s":3,"load_s":1.5,"queued":4})"));
}

TEST_CASE("how far a load is, is told while the model is being loaded, and only then") {
  ModelDescription model;
  model.progress = {.bytes = 1, .total = 2};
  for (const ModelState state : {ModelState::kOnDisk, ModelState::kLoaded}) {
    model.state = state;
    CHECK_FALSE(description_of(model).contains("progress"));
  }
  model.state = ModelState::kLoading;
  const Json told = description_of(model);
  CHECK(told["state"] == "loading");
  CHECK(told["loaded"] == false);
  CHECK(told["progress"] == Json{{"bytes", 1}, {"total", 2}, {"seconds_left", nullptr}});
  model.progress.seconds_left = 0.5;
  CHECK(description_of(model)["progress"]["seconds_left"] == 0.5);
}

TEST_CASE("a value that is zero is not taken for none") {
  CHECK(or_null(std::optional<std::int64_t>()).is_null());
  CHECK(or_null(std::optional<std::int64_t>(0)) == 0);
  CHECK(or_null(std::optional<double>(0)) == 0.0);
}
