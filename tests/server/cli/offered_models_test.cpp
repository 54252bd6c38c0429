#include "cli/people/offered_models.hpp"

#include "support/catch.hpp"
#include "support/process.hpp"

#include <string>

using rkllm_mcp::is_same_file;
using rkllm_mcp::Json;
using rkllm_mcp::OfferedModel;
using rkllm_mcp::OfferedModels;
using rkllm_mcp::text_at;
using rkllm_mcp::test::has_text;
using rkllm_mcp::test::TemporaryDirectory;
using rkllm_mcp::test::write_file;

namespace {

// The name of the model that `name` finds; "" for none.
std::string offered_name(const OfferedModels& offered, const std::string& name) {
  const OfferedModel* const found = offered.find(name);
  return found == nullptr ? std::string() : found->name;
}

OfferedModels offered_three() {
  OfferedModels offered;
  offered.all.resize(3);
  offered.all[0].name = "fast";
  offered.all[0].aliases = {"quick", "small"};
  offered.all[0].path = "/nowhere/tiny-rk3588.rkllm";
  offered.all[1].name = "large";
  offered.all[1].handle = "7";
  offered.all[2].name = "poet";
  offered.all[2].path = "/nowhere/big-rk3588.rkllm";
  offered.all[2].is_profile = true;
  return offered;
}

}  // namespace

TEST_CASE("a model is found by each of its names, with \"latest\" as well, by its handle and by its file") {
  const OfferedModels offered = offered_three();
  for (const char* const name : {"fast", "fast:latest", "quick", "small:latest", "/nowhere/tiny-rk3588.rkllm",
                                 "tiny-rk3588.rkllm", "tiny-rk3588"}) {
    INFO(name);
    CHECK(offered_name(offered, name) == "fast");
  }
  CHECK(offered_name(offered, "7") == "large");
}

TEST_CASE("no model is found by a part of its name, by nothing, or by a file of its name in another folder") {
  const OfferedModels offered = offered_three();
  for (const char* const name : {"", "fas", "fast:", ":latest", "8", "/elsewhere/tiny-rk3588.rkllm"}) {
    INFO(name);
    CHECK(offered_name(offered, name).empty());
  }
}

TEST_CASE("a file is that of its model and not of a profile that uses it") {
  OfferedModels offered = offered_three();
  CHECK(offered_name(offered, "big-rk3588").empty());
  CHECK(offered_name(offered, "/nowhere/big-rk3588.rkllm").empty());
  CHECK(offered_name(offered, "poet") == "poet");
}

TEST_CASE("a model's own name goes before another name of one that stands before it, and a name before a handle") {
  OfferedModels offered = offered_three();
  offered.all[0].aliases = {"large"};
  CHECK(offered_name(offered, "large") == "large");
  offered.all[0].aliases = {"7"};
  CHECK(offered_name(offered, "7") == "fast");
}

TEST_CASE("a model that is named with \"latest\" is found by that name, beside one without") {
  OfferedModels offered = offered_three();
  offered.all[2].name = "fast:latest";
  CHECK(offered_name(offered, "fast:latest") == "fast:latest");
  CHECK(offered_name(offered, "fast") == "fast");
}

TEST_CASE("of a model that there is not it is said which was meant, and how to see all where these are") {
  OfferedModels offered = offered_three();
  offered.where = " --to board";
  CHECK_THAT(offered.no_such_model("fsat"), has_text("no model fsat") && has_text("did you mean \"fast\"?") &&
                                                has_text("rkllm-mcp models --to board"));
  CHECK_THAT(offered.no_such_model("quik"), has_text("did you mean \"quick\"?"));
  CHECK_THAT(offered.no_such_model("nothing-like-it"), !has_text("did you mean"));
}

TEST_CASE("a file is the same by another path to it, and one that is not there only by its own") {
  const TemporaryDirectory folder;
  write_file(folder / "one", "same");
  write_file(folder / "two", "same");
  CHECK(is_same_file(folder / "one", folder / "./one"));
  CHECK_FALSE(is_same_file(folder / "one", folder / "two"));
  CHECK(is_same_file("/nowhere/one", "/nowhere/one"));
  CHECK_FALSE(is_same_file("/nowhere/one", "/nowhere/./one"));
}

TEST_CASE("the text of a member is that of a text, JSON of anything else, and the other one where there is none") {
  const Json object{{"text", "words"}, {"number", 7}, {"null", nullptr}, {"empty", ""}};
  CHECK(text_at(object, "text") == "words");
  CHECK(text_at(object, "number") == "7");
  CHECK(text_at(object, "null") == "-");
  CHECK(text_at(object, "absent", "none") == "none");
  CHECK(text_at(object, "empty").empty());
  CHECK(text_at(Json::array(), "text") == "-");
}
