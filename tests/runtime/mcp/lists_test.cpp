#include "mcp/lists/lists.hpp"

#include "auth/access_tokens.hpp"
#include "jsonrpc/envelope.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

constexpr std::size_t kNoBound = std::numeric_limits<std::size_t>::max();

// Who asks for the lists of a catalogue.
struct Listing {
  Listing() { session.principal = &principal; }

  // As the client reads it.
  Json tools(const Json& params = nullptr, mcp::PageLimits limits = {50, kNoBound}) const {
    return Json::parse(to_text(list_tools(catalogue, session, params, limits)));
  }
  void add_tool(const std::string& name, bool listed = true) {
    mcp::Tool tool;
    tool.name = name;
    tool.input_schema = Json{{"type", "object"}};
    tool.listed = listed;
    catalogue.add(std::move(tool));
  }
  void add_resource(const std::string& uri, Permission permission = Permission::kCall) {
    mcp::Resource resource{uri, uri, "", "", "", [] { return mcp::ResourceText{"text"}; }};
    resource.permission = permission;
    catalogue.resources.push_back(std::move(resource));
  }

  const Principal principal{"client", true, false};
  Session session{std::weak_ptr<RequestTable>()};
  mcp::Catalogue catalogue;
};

std::vector<std::string> names_of(const Json& entries) {
  std::vector<std::string> names;
  for (const Json& each : entries) names.push_back(each["name"]);
  return names;
}

// The names on each page of resources, from the first to the last.
std::vector<std::vector<std::string>> pages_of(const Listing& listing, const mcp::PageLimits& limits) {
  std::vector<std::vector<std::string>> pages;
  Json params = Json::object();
  do {
    const Json page = list_resources(listing.catalogue, listing.session, params, limits);
    pages.push_back(names_of(page["resources"]));
    params["cursor"] = page.value("nextCursor", Json());
  } while (!params["cursor"].is_null());
  return pages;
}

}  // namespace

TEST_CASE("an entry says what is known of it, and leaves out what would say nothing") {
  Listing listing;
  listing.add_tool("bare");
  mcp::Tool tool;
  tool.name = "whole";
  tool.title = "Whole";
  tool.description = "All \"of\" it.";
  tool.input_schema = Json{{"type", "object"}};
  tool.output_schema = Json{{"type", "object"}, {"properties", Json::object()}};
  tool.annotations = ToolAnnotations{.read_only = true, .open_world = true};
  tool.more = Json{{"icons", {1}}, {"name", "another"}, {"title", "Another"}};
  listing.catalogue.add(std::move(tool));
  const Json entries = listing.tools()["tools"];
  CHECK(entries[0] == Json{{"name", "bare"}, {"inputSchema", {{"type", "object"}}}});
  CHECK(entries[1] == Json{{"name", "whole"},
                           {"title", "Whole"},
                           {"description", "All \"of\" it."},
                           {"inputSchema", {{"type", "object"}}},
                           {"outputSchema", {{"type", "object"}, {"properties", Json::object()}}},
                           {"annotations",
                            {{"title", "Whole"},
                             {"readOnlyHint", true},
                             {"destructiveHint", false},
                             {"idempotentHint", false},
                             {"openWorldHint", true}}},
                           {"icons", {1}}});
}

TEST_CASE("a resource, a template and a prompt are listed as the protocol has them") {
  Listing listing;
  listing.catalogue.resources.push_back(
      {"a://1", "one", "One", "The first.", "text/plain", [] { return mcp::ResourceText{"text"}; }, 4});
  listing.catalogue.resources.push_back({"a://2", "two", "", "", "", [] { return mcp::ResourceText{"text"}; }});
  const auto none = [](std::string_view) { return std::optional<mcp::ResourceText>(); };
  listing.catalogue.templates.push_back({"a://{n}", "each", "Each", "Any of them.", "text/plain", none});
  listing.catalogue.add(
      mcp::Prompt{"greet", "Greet", "A greeting.", {{"who", "Who", "Whom.", true, {}}, {"how", "", ""}}, {}});
  listing.catalogue.add(mcp::Prompt{"bare", "", "", {}, {}});
  const mcp::PageLimits limits{50, kNoBound};
  CHECK(list_resources(listing.catalogue, listing.session, nullptr, limits) ==
        Json{{"resources",
              {{{"uri", "a://1"},
                {"name", "one"},
                {"title", "One"},
                {"description", "The first."},
                {"mimeType", "text/plain"},
                {"size", 4}},
               {{"uri", "a://2"}, {"name", "two"}}}}});
  CHECK(list_resource_templates(listing.catalogue, listing.session, nullptr, limits) ==
        Json{{"resourceTemplates",
              {{{"uriTemplate", "a://{n}"},
                {"name", "each"},
                {"title", "Each"},
                {"description", "Any of them."},
                {"mimeType", "text/plain"}}}}});
  CHECK(list_prompts(listing.catalogue, listing.session, nullptr, limits) ==
        Json{{"prompts",
              {{{"name", "greet"},
                {"title", "Greet"},
                {"description", "A greeting."},
                {"arguments",
                 {{{"name", "who"}, {"title", "Who"}, {"description", "Whom."}, {"required", true}},
                  {{"name", "how"}, {"required", false}}}}},
               {{"name", "bare"}}}}});
}

TEST_CASE("the list of nothing is one page without entries") {
  const Listing listing;
  CHECK(listing.tools() == Json{{"tools", Json::array()}});
  CHECK(pages_of(listing, {1, 0}) == std::vector<std::vector<std::string>>{{}});
}

TEST_CASE("pages have all entries once and in order, whatever their bounds") {
  Listing listing;
  std::vector<std::string> all;
  for (int at = 0; at < 23; ++at) {
    all.push_back("a://" + std::string(static_cast<std::size_t>(at % 5), 'x') + std::to_string(at));
    listing.add_resource(all.back());
  }
  for (const mcp::PageLimits limits :
       {mcp::PageLimits{1, kNoBound}, mcp::PageLimits{7, kNoBound}, mcp::PageLimits{23, kNoBound},
        mcp::PageLimits{24, kNoBound}, mcp::PageLimits{50, 200}, mcp::PageLimits{5, 120}, mcp::PageLimits{50, 0}}) {
    std::vector<std::string> told;
    for (const auto& page : pages_of(listing, limits)) {
      CHECK_FALSE(page.empty());
      CHECK(page.size() <= limits.items);
      told.insert(told.end(), page.begin(), page.end());
    }
    CHECK(told == all);
  }
  CHECK(pages_of(listing, {50, 0}).size() == 23);  // a page has one entry in any case
  CHECK(pages_of(listing, {23, kNoBound}).size() == 1);
}

TEST_CASE("a page of tools is bounded in bytes, too, though their entries are ready text") {
  Listing listing;
  for (int at = 0; at < 4; ++at) listing.add_tool(std::string(100, static_cast<char>('a' + at)));
  const Json page = listing.tools(nullptr, {50, 300});
  CHECK(page["tools"].size() == 2);
  CHECK(listing.tools({{"cursor", page["nextCursor"]}}, {50, 300})["tools"].size() == 2);
}

TEST_CASE("what is not listed, or not for the client, takes no place on a page") {
  Listing listing;
  for (const char* const name : {"a", "b", "c"}) {
    listing.add_tool(std::string("hidden-") + name, false);
    listing.add_tool(name);
    listing.add_resource(std::string("secret-") + name, Permission::kAdmin);
    listing.add_resource(name);
  }
  const Json page = listing.tools(nullptr, {2, kNoBound});
  CHECK(names_of(page["tools"]) == std::vector<std::string>{"a", "b"});
  const Json rest = listing.tools({{"cursor", page["nextCursor"]}}, {2, kNoBound});
  CHECK(names_of(rest["tools"]) == std::vector<std::string>{"c"});
  CHECK_FALSE(rest.contains("nextCursor"));
  CHECK(pages_of(listing, {2, kNoBound}) == std::vector<std::vector<std::string>>{{"a", "b"}, {"c"}});
}

TEST_CASE("nobody knows who asks: then there is nothing to list") {
  Listing listing;
  listing.add_tool("a");
  listing.session.principal = nullptr;
  CHECK(listing.tools()["tools"].empty());
}

TEST_CASE("a cursor that was never given out is refused, and none or null begins the list") {
  Listing listing;
  for (int at = 0; at < 3; ++at) listing.add_resource("a://" + std::to_string(at));
  const auto first_of = [&](const Json& params) {
    return list_resources(listing.catalogue, listing.session, params, {1, kNoBound})["resources"][0]["name"];
  };
  for (const Json& params : {Json(nullptr), Json::object(), Json::array({"from-1"}), Json{{"cursor", nullptr}}}) {
    CHECK(first_of(params) == "a://0");
  }
  CHECK(first_of({{"cursor", "from-2"}}) == "a://2");
  for (const Json& cursor :
       {Json(""), Json("from-"), Json("from-0"), Json("from-3"), Json("from--1"), Json("from-+1"), Json("from- 1"),
        Json("from-1 "), Json("from-1x"), Json("From-1"), Json("1"), Json("from-18446744073709551616"),
        Json("from-99999999999999999999999"), Json(1), Json(true), Json::array(), Json::object()}) {
    INFO(cursor);
    CHECK_THROWS_AS(first_of({{"cursor", cursor}}), InvalidParams);
    CHECK_THROWS_WITH(first_of({{"cursor", cursor}}), has_text("params.cursor: "));
  }
}

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
