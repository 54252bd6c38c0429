#include "mcp/lists/completion.hpp"

#include "auth/access_tokens.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

// A catalogue with a prompt and a template whose argument `n` has these values, and who asks for them.
struct Completing {
  explicit Completing(std::vector<std::string> all = {}) : values(std::move(all)) {
    session.principal = &principal;
    const auto complete = [this](std::string_view typed, const Json& known) {
      so_far = std::string(typed);
      others = known;
      return values;
    };
    catalogue.add(mcp::Prompt{"greet", "", "", {{"n", "", "", false, complete}, {"free", "", "", false, {}}}, {}});
    const auto none = [](std::string_view) { return std::optional<mcp::ResourceText>(); };
    catalogue.templates.push_back({"a://{n}", "a", "", "", "", none, {{"n", complete}}});
  }

  Json completion_for(const Json& params) const { return complete(catalogue, session, params)["completion"]; }
  Json completion(const std::string& typed) const {
    return completion_for(Json{{"ref", prompt}, {"argument", {{"name", "n"}, {"value", typed}}}});
  }

  const Json prompt{{"type", "ref/prompt"}, {"name", "greet"}};
  const Json resource{{"type", "ref/resource"}, {"uri", "a://{n}"}};
  const Principal principal{"client", true, true};
  Session session{std::weak_ptr<RequestTable>()};
  mcp::Catalogue catalogue;
  std::vector<std::string> values;
  std::string so_far = "not asked";
  Json others;
};

std::string incomplete_path(const Json& params) {
  const Completing completing;
  try {
    completing.completion_for(params);
    return {};
  } catch (const InvalidParams& error) {
    return error.data()["path"].get<std::string>();
  }
}

const Json kNoValues{{"values", Json::array()}, {"total", 0}, {"hasMore", false}};

}  // namespace

TEST_CASE("values are those that begin with what has been typed, byte for byte and in their order") {
  const Completing completing({"beta", "alpha", "Beta", "bet", "b\xC3\xA9ta", ""});
  const auto values = [&](const std::string& typed) { return completing.completion(typed)["values"]; };
  CHECK(values("be") == Json::array({"beta", "bet"}));
  CHECK(values("beta") == Json::array({"beta"}));
  CHECK(values("b\xC3\xA9") == Json::array({"b\xC3\xA9ta"}));
  CHECK(values("").size() == 6);
  CHECK(completing.completion("betas") == kNoValues);
  CHECK(completing.so_far == "betas");
}

TEST_CASE("no more than a hundred values are told, and how many there are") {
  for (const std::size_t count : {std::size_t{99}, std::size_t{100}, std::size_t{101}, std::size_t{500}}) {
    std::vector<std::string> all{"no"};
    for (std::size_t at = 0; at < count; ++at) all.push_back("v" + std::to_string(at));
    const Json completion = Completing(all).completion("v");
    CHECK(completion["values"].size() == std::min(count, std::size_t{100}));
    CHECK(completion["values"].back() == all[std::min(count, std::size_t{100})]);
    CHECK(completion["total"] == count);
    CHECK(completion["hasMore"] == (count > 100));
  }
}

TEST_CASE("who knows the values is told the arguments that are known already, where they are arguments") {
  const Completing completing({"x"});
  const auto others_of = [&](const Json& ref, const Json& context) {
    completing.completion_for(Json{{"ref", ref}, {"argument", {{"name", "n"}, {"value", ""}}}, {"context", context}});
    return completing.others;
  };
  CHECK(others_of(completing.prompt, {{"arguments", {{"mode", "a"}}}}) == Json{{"mode", "a"}});
  CHECK(others_of(completing.resource, {{"arguments", {{"mode", "b"}}}}) == Json{{"mode", "b"}});
  for (const Json& odd : {Json(nullptr), Json("x"), Json::array({1}), Json::object(), Json{{"arguments", nullptr}},
                          Json{{"arguments", {1}}}}) {
    CHECK(others_of(completing.prompt, odd) == Json::object());
  }
}

TEST_CASE("for what is not known, or may be anything, there are no values") {
  const Completing completing({"x"});
  const auto none = [&](const Json& ref, const std::string& name) {
    return completing.completion_for(Json{{"ref", ref}, {"argument", {{"name", name}, {"value", ""}}}}) == kNoValues;
  };
  CHECK(none({{"type", "ref/prompt"}, {"name", "sing"}}, "n"));
  CHECK(none({{"type", "ref/prompt"}, {"name", ""}}, "n"));
  CHECK(none({{"type", "ref/resource"}, {"uri", "a://1"}}, "n"));
  CHECK(none({{"type", "ref/resource"}, {"uri", "greet"}}, "n"));
  CHECK(none(completing.prompt, "N"));
  CHECK(none(completing.prompt, ""));
  CHECK(none(completing.prompt, "free"));
  CHECK(none(completing.resource, "free"));
  CHECK(completing.so_far == "not asked");
  CHECK_FALSE(none(completing.resource, "n"));
}

TEST_CASE("what asks for values in the wrong form is refused with its path") {
  const Json argument{{"name", "n"}, {"value", ""}};
  const Json ref{{"type", "ref/prompt"}, {"name", "greet"}};
  const std::vector<std::pair<Json, std::string>> cases{
      {Json(nullptr), "params.argument"},
      {Json::array({argument}), "params.argument"},
      {{{"ref", ref}}, "params.argument"},
      {{{"ref", ref}, {"argument", "n"}}, "params.argument"},
      {{{"ref", ref}, {"argument", {{"value", ""}}}}, "params.argument.name"},
      {{{"ref", ref}, {"argument", {{"name", 1}, {"value", ""}}}}, "params.argument.name"},
      {{{"ref", ref}, {"argument", {{"name", "n"}}}}, "params.argument.value"},
      {{{"ref", ref}, {"argument", {{"name", "n"}, {"value", nullptr}}}}, "params.argument.value"},
      {{{"argument", argument}}, "params.ref"},
      {{{"ref", "greet"}, {"argument", argument}}, "params.ref"},
      {{{"ref", Json::object()}, {"argument", argument}}, "params.ref.type"},
      {{{"ref", {{"type", "ref/tool"}}}, {"argument", argument}}, "params.ref.type"},
      {{{"ref", {{"type", "ref/prompt"}}}, {"argument", argument}}, "params.ref.name"},
      {{{"ref", {{"type", "ref/prompt"}, {"name", {"greet"}}}}, {"argument", argument}}, "params.ref.name"},
      {{{"ref", {{"type", "ref/resource"}, {"name", "greet"}}}, {"argument", argument}}, "params.ref.uri"}};
  for (const auto& [params, path] : cases) {
    INFO(params);
    CHECK(incomplete_path(params) == path);
  }
}
