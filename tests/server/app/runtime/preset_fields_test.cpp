#include "app/runtime/preset_fields.hpp"

#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace rkllm_mcp;

namespace {

// "PATH: TEXT" of each complaint about that preset's `param`.
std::vector<std::string> complaints_about(const Json& param) {
  std::vector<std::string> all;
  for (const Complaint& each : unknown_preset_fields(Json{{"big", {{"param", param}}}})) {
    all.push_back(each.path + ": " + each.text);
  }
  return all;
}

}  // namespace

TEST_CASE("fields that a version of the runtime has are taken in presets, whatever their values") {
  CHECK(unknown_preset_fields(Json::object()).empty());
  CHECK(unknown_preset_fields(Json{{"big", Json::object()}}).empty());
  CHECK(complaints_about(Json::object()).empty());
  CHECK(complaints_about({{"model_path", "/a.rkllm"},
                          {"top_k", "five"},
                          {"max_context_len", 4096},
                          {"extend_param", {{"base_domain_id", 1}, {"embed_flash", nullptr}}}})
            .empty());
  // Of one version only: presets are written for any of them.
  CHECK(complaints_about({{"img_start", "<img>"}, {"ignore_eos_token", true}, {"extend_param", {{"n_batch", 1}}}})
            .empty());
  // What is wrong with a value is said where it is used.
  CHECK(complaints_about({{"extend_param", 5}}).empty());
}

TEST_CASE("fields that no version of the runtime has are told by their path, with the one that was meant") {
  const std::string none = ": no version of the runtime has this field";
  CHECK(complaints_about({{"top_kk", 1}}) ==
        std::vector<std::string>{"models.big.param.top_kk" + none + "; did you mean \"top_k\"?"});
  CHECK(complaints_about({{"something_else", 1}}) ==
        std::vector<std::string>{"models.big.param.something_else" + none});
  CHECK(complaints_about({{"extend_param", {{"base_domain", 1}}}}) ==
        std::vector<std::string>{"models.big.param.extend_param.base_domain" + none +
                                 "; did you mean \"base_domain_id\"?"});
  // A field of another level is none here.
  CHECK(complaints_about({{"base_domain_id", 1}}).size() == 1);
}

TEST_CASE("all presets are looked at, and all of their fields") {
  const auto complaints = unknown_preset_fields(Json{{"one", {{"param", {{"x", 1}, {"top_k", 1}, {"y", 2}}}}},
                                                     {"two", {{"param", {{"z", 1}}}}},
                                                     {"three", Json::object()}});
  std::vector<std::string> paths;
  for (const Complaint& each : complaints) paths.push_back(each.path);
  CHECK(paths == std::vector<std::string>{"models.one.param.x", "models.one.param.y", "models.two.param.z"});
}
