#include "models/model_list.hpp"

#include "support/catch.hpp"

#include <string>
#include <vector>

namespace rkllm_mcp {

TEST_CASE("a preset goes before a file of its name, and both are found with and without :latest") {
  ModelList list;
  list.set_files({{"small", "/models/small.rkllm", 10, 1}, {"other", "/models/other.rkllm", 20, 2}});
  list.set_presets(Json{{"small", {{"param", {{"model_path", "/preset.rkllm"}}}, {"template", "qwen2"}}}});
  CHECK(list.names() == std::vector<std::string>{"other", "small"});
  REQUIRE(list.find("small") != nullptr);
  CHECK(list.find("small")->path == "/preset.rkllm");
  CHECK(list.find("small")->template_name == "qwen2");
  CHECK_FALSE(list.find("small")->bytes);
  list.set_preset_files({{"/preset.rkllm", {"preset", "/preset.rkllm", 7, 3}}});
  CHECK(list.find("small:latest")->bytes == 7);
  CHECK(list.find("other:latest")->param == Json{{"model_path", "/models/other.rkllm"}});
  CHECK(list.find("nobody") == nullptr);
  CHECK(list.find(":latest") == nullptr);
}

TEST_CASE("what a preset says of its keeping and its embeddings is read") {
  ModelList list;
  list.set_presets(Json{{"a", {{"keep_alive_s", -1}, {"embeddings", {{"pooling", "cls"}, {"suffix", "</s>"}}}}},
                        {"b", {{"keep_alive_s", 30}}},
                        {"c", Json::object()}});
  CHECK(list.find("a")->keep_alive->forever);
  CHECK(list.find("a")->pooling == chat::Pooling::kFirst);
  CHECK(list.find("a")->suffix == "</s>");
  CHECK(list.find("b")->keep_alive->seconds == 30);
  CHECK_FALSE(list.find("c")->keep_alive);
  CHECK(list.preset_paths().empty());
}

}  // namespace rkllm_mcp
