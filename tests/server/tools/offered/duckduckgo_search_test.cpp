#include "server/tools/offered/offered_bench.hpp"
#include "support/catch.hpp"

#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

ToolSettings of_duckduckgo(const WebServer& server, const std::string& target = "/html/") {
  ToolSettings settings = Settings().tools;
  settings.duckduckgo_url = server.url(target);
  return settings;
}

std::string duck_entry(const std::string& link, const std::string& title) {
  return "<div class=\"result web-result\"><h2><a class=\"result__a\" href=\"" + link + "\">" + title +
         "</a></h2></div>";
}

std::string duck_failure(const std::string& body, const std::string& status) {
  WebServer server(web_answer(body, "text/html", {}, status));
  return OfferedBench("duckduckgo_search", of_duckduckgo(server)).failure({{"query", "q"}});
}

}  // namespace

TEST_CASE("DuckDuckGo is asked for a page, with the query behind the endpoint's own") {
  WebServer server(web_answer(duck_entry("https://a.example/", "A")));
  OfferedBench bench("duckduckgo_search", of_duckduckgo(server, "/html/?kl=vn-vi"));
  const ToolAnswer answer = bench.run({{"query", " sâu răng "}});
  CHECK(answer.structured ==
        Json{{"query", "sâu răng"},
             {"results", Json::array({Json{{"title", "A"}, {"content", ""}, {"link", "https://a.example/"}}})}});
  CHECK_THAT(server.heads().at(0), has_text("GET /html/?kl=vn-vi&q=s%C3%A2u%20r%C4%83ng HTTP/1.1\r\n") &&
                                       has_text("\r\nAccept: text/html\r\n"));
  CHECK(bench.tool.missing.empty());
  CHECK(bench.tool.reach == OfferedTool::Reach::kNetwork);
}

TEST_CASE("a page of DuckDuckGo's in another encoding is read in that") {
  WebServer server(web_answer(duck_entry("https://a.example/", "na\xEFve"), "text/html; charset=iso-8859-1"));
  OfferedBench bench("duckduckgo_search", of_duckduckgo(server));
  CHECK(bench.run({{"query", "q"}}).structured["results"][0]["title"] == "naïve");
}

TEST_CASE("DuckDuckGo's page for robots comes with the status 202, which is read, and no other that is not 200") {
  const std::string page = "<form id=\"challenge-form\"></form><div class=\"anomaly-modal\"></div>";
  CHECK_THAT(duck_failure(page, "202 Accepted"), has_text("captcha") && has_text("searxng_search"));
  CHECK_THAT(duck_failure("<p>x</p>", "202 Accepted"), has_text("not as expected"));
  for (const char* const status : {"201", "403", "503"}) {
    CHECK(duck_failure(duck_entry("https://a.example/", "A"), std::string(status) + " X") ==
          "DuckDuckGo answers with HTTP status " + std::string(status));
  }
}
