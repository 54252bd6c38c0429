#include "server/tools/offered/offered_bench.hpp"
#include "support/catch.hpp"

#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

ToolSettings of_instance(const std::string& url) {
  ToolSettings settings = Settings().tools;
  settings.searxng_url = url;
  return settings;
}

// The first line of the request for an instance at that path.
std::string searxng_request(const std::string& target) {
  WebServer server(web_answer(R"({"results":[]})", "application/json"));
  OfferedBench("searxng_search", of_instance(server.url(target))).run({{"query", "a b"}});
  const std::string head = server.heads().at(0);
  CHECK_THAT(head, has_text("\r\nAccept: application/json\r\n"));
  return head.substr(0, head.find(" HTTP/1.1"));
}

std::string searxng_failure(const std::string& body, const std::string& status = "200 OK") {
  WebServer server(web_answer(body, "application/json", {}, status));
  return OfferedBench("searxng_search", of_instance(server.url())).failure({{"query", "q"}});
}

}  // namespace

TEST_CASE("a search with SearXNG says that it has no instance to ask") {
  CHECK(OfferedBench("searxng_search", of_instance("")).tool.missing == "tools.searxng.url");
  const OfferedBench bench("searxng_search", of_instance("http://127.0.0.1:1/"));
  CHECK(bench.tool.missing.empty());
  CHECK(bench.tool.reach == OfferedTool::Reach::kNetwork);
}

TEST_CASE("an instance is asked at its page for searches, whether the setting names that or what is above it") {
  const std::string values = "?format=json&q=a%20b";
  CHECK(searxng_request("/") == "GET /search" + values);
  CHECK(searxng_request("/search") == "GET /search" + values);
  CHECK(searxng_request("/searx") == "GET /searx/search" + values);
  CHECK(searxng_request("/searx/") == "GET /searx/search" + values);
  CHECK(searxng_request("/searx/search") == "GET /searx/search" + values);
}

TEST_CASE("an instance that refuses is told from one that fails, and from one whose answer is something else") {
  CHECK_THAT(searxng_failure("{}", "403 Forbidden"), has_text("HTTP status 403") && has_text("search.formats"));
  CHECK(searxng_failure(R"({"results":[]})", "429 Slow") == "the SearXNG instance answers with HTTP status 429");
  for (const char* const wrong : {"", "[]", "{}", R"({"results":{}})", R"({"results":null})", "<html>"}) {
    INFO(wrong);
    CHECK(searxng_failure(wrong) == "the SearXNG instance's answer is not as expected: it has no list of results");
  }
}

TEST_CASE("no more of an instance's results are told than are wanted, and what is no result is left out") {
  WebServer server(web_answer(R"({"results":[7,null,{"title":"A","content":"a","url":"https://a.example/"},
    {"title":"B"},{"title":1,"content":2,"url":"https://c.example/"},{"title":"D","url":"https://d.example/"}]})",
                              "application/json"));
  OfferedBench bench("searxng_search", of_instance(server.url()));
  const Json first{{"title", "A"}, {"content", "a"}, {"link", "https://a.example/"}};
  const Json second{{"title", ""}, {"content", ""}, {"link", "https://c.example/"}};
  CHECK(bench.run({{"query", "q"}, {"max_results", 2}}).structured["results"] == Json::array({first, second}));
  CHECK(bench.run({{"query", "q"}}).structured["results"].size() == 3);
}
