// Resources and prompts of other servers, under addresses and names of their own.
#include "upstreams/upstream_document.hpp"

#include "jsonrpc/bounded_json.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

namespace rkllm_mcp {

TEST_CASE("an address there is another one here, of that upstream only") {
  const std::string served = served_uri("up", "file:///a/b");
  CHECK(served == "upstream://up/file:///a/b");
  CHECK(uri_there(served)->upstream == "up");
  CHECK(uri_there(served)->uri == "file:///a/b");
  CHECK(uri_there(served_uri("up", served))->uri == served);
  CHECK_FALSE(uri_there("rkllm://api"));
  CHECK_FALSE(uri_there("upstream://up"));
}

TEST_CASE("icons and _meta of what is listed pass through") {
  const Json icons = Json::array({{{"src", "https://example.com/a.png"}}});
  const auto resource = served_resource(
      "up", {{"uri", "x:1"}, {"name", "one"}, {"icons", icons}, {"_meta", {{"k", 1}}}, {"size", 5}, {"other", 1}});
  CHECK(resource.uri == "upstream://up/x:1");
  CHECK(resource.name == "up_one");
  CHECK(resource.title == "one (up)");
  CHECK(resource.more == Json{{"icons", icons}, {"size", 5}, {"_meta", {{"k", 1}}}});
  CHECK(served_template("up", {{"uriTemplate", "x:{n}"}, {"name", "n"}}).uri_template == "upstream://up/x:{n}");
  const auto prompt = served_prompt("up", {{"name", "p"}, {"arguments", {{{"name", "a"}, {"required", true}}}}});
  CHECK(prompt.arguments[0].required);
}

TEST_CASE("what is malformed or too long is left out of a list") {
  const Json good{{"uri", "x:1"}};
  std::vector<Json> resources{good, Json{{"uri", 5}}, Json(5), Json{{"name", "x"}}};
  resources.push_back({{"uri", "x:2"}, {"description", std::string(300'000, 'x')}});
  resources.push_back({{"uri", std::string(2049, 'x')}});
  CHECK(drop_unservable(Offered::kResources, resources) == 5);
  CHECK(resources == std::vector<Json>{good});

  const Json plain{{"name", "p"}};
  std::vector<Json> prompts{plain, Json{{"name", "q"}, {"arguments", {5}}}, Json{{"name", "r"}, {"arguments", 5}}};
  prompts.push_back({{"name", std::string(129, 'x')}});
  CHECK(drop_unservable(Offered::kPrompts, prompts) == 3);
  CHECK(prompts == std::vector<Json>{plain});
}

TEST_CASE("servers that are each other's upstreams do not list the same again and again") {
  std::string uri = "x:1";
  std::vector<Json> resources;
  for (int servers = 0; servers < 5; ++servers) {
    resources.push_back({{"uri", uri}});
    uri = served_uri("up", uri);
  }
  drop_unservable(Offered::kResources, resources);
  REQUIRE(resources.size() == 3);
  CHECK(resources[2]["uri"] == "upstream://up/upstream://up/x:1");

  const Json own{{"name", "p"}};
  const Json other{{"name", "other_p"}};
  std::vector<Json> prompts{own, Json{{"name", "up_p"}}, other};
  drop_echoes("up", prompts);
  CHECK(prompts == std::vector<Json>{own, other});
}

TEST_CASE("addresses in a result are those that can be read here, what was for the way there is left out") {
  const Json result = Json::parse(R"({"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{},"k":1},
      "content":[{"type":"resource_link","uri":"x:1","name":"n"},{"type":"resource","resource":{"uri":"x:2","text":"t"}},
                 {"type":"text","text":"x:3"}]})");
  CHECK(as_served("up", result) ==
        Json::parse(R"({"content":[{"type":"resource_link","uri":"upstream://up/x:1","name":"n"},
      {"type":"resource","resource":{"uri":"upstream://up/x:2","text":"t"}},{"type":"text","text":"x:3"}],"_meta":{"k":1}})"));
}

TEST_CASE("a result keeps however many members of _meta, in their order, and a _meta that is no object is left out") {
  constexpr int kMany = 20'000;
  std::string meta = R"("io.modelcontextprotocol/serverInfo":{})";
  for (int each = 0; each < kMany; ++each) meta += R"(,"m)" + std::to_string(each) + R"(":1)";
  const Json served = as_served("up", parse_bounded(R"({"content":[],"_meta":{)" + meta + "}}").value());
  REQUIRE(served["_meta"].size() == kMany);
  CHECK(served["_meta"].begin().key() == "m0");
  for (const Json& other : {Json("x"), Json(nullptr), Json::array({1})}) {
    CHECK(as_served("up", {{"messages", Json::array()}, {"_meta", other}}).dump() == R"({"messages":[]})");
  }
}

}  // namespace rkllm_mcp
