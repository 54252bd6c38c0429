// Resources and prompts of other servers, under addresses and names of their own.
#include "upstreams/upstream_document.hpp"

#include "support/catch.hpp"

#include <string>

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

TEST_CASE("icons and _meta of what is listed pass through, and malformed entries are left out") {
  const Json icons = Json::array({{{"src", "https://example.com/a.png"}}});
  const auto resource = served_resource(
      "up", {{"uri", "x:1"}, {"name", "one"}, {"icons", icons}, {"_meta", {{"k", 1}}}, {"size", 5}, {"other", 1}});
  REQUIRE(resource);
  CHECK(resource->uri == "upstream://up/x:1");
  CHECK(resource->name == "up_one");
  CHECK(resource->title == "one (up)");
  CHECK(resource->more == Json{{"icons", icons}, {"size", 5}, {"_meta", {{"k", 1}}}});
  CHECK(served_template("up", {{"uriTemplate", "x:{n}"}, {"name", "n"}})->uri_template == "upstream://up/x:{n}");
  const auto prompt = served_prompt("up", {{"name", "p"}, {"arguments", {{{"name", "a"}, {"required", true}}}}});
  REQUIRE(prompt);
  CHECK(prompt->arguments[0].required);
  CHECK_FALSE(served_resource("up", {{"uri", 5}}));
  CHECK_FALSE(served_resource("up", 5));
  CHECK_FALSE(served_prompt("up", {{"name", "p"}, {"arguments", {5}}}));
  CHECK_FALSE(served_resource("up", {{"uri", "x:1"}, {"description", std::string(300'000, 'x')}}));
}

TEST_CASE("addresses in a result are those that can be read here; what was for the way there is left out") {
  const Json result = Json::parse(R"({"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{},"k":1},
      "content":[{"type":"resource_link","uri":"x:1","name":"n"},{"type":"resource","resource":{"uri":"x:2","text":"t"}},
                 {"type":"text","text":"x:3"}]})");
  CHECK(as_served("up", result) ==
        Json::parse(R"({"content":[{"type":"resource_link","uri":"upstream://up/x:1","name":"n"},
      {"type":"resource","resource":{"uri":"upstream://up/x:2","text":"t"}},{"type":"text","text":"x:3"}],"_meta":{"k":1}})"));
}

}  // namespace rkllm_mcp
