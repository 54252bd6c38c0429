#include "server/tools/offered/offered_bench.hpp"
#include "support/catch.hpp"

#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

ToolSettings of_google(const WebServer& server, const std::string& target = "/v1") {
  ToolSettings settings = Settings().tools;
  settings.google_url = server.url(target);
  settings.google_api_key = "k";
  settings.google_cx = "c";
  return settings;
}

// What is said of this answer.
std::string google_failure(const std::string& body, const std::string& status = "200 OK") {
  WebServer server(web_answer(body, "application/json", {}, status));
  return OfferedBench("google_search", of_google(server)).failure({{"query", "q"}});
}

}  // namespace

TEST_CASE("a search with Google says which of its settings are missing") {
  const auto missing = [](const std::string& key, const std::string& engine) {
    ToolSettings settings = Settings().tools;
    settings.google_api_key = key;
    settings.google_cx = engine;
    return OfferedBench("google_search", settings).tool.missing;
  };
  CHECK(missing("k", "c").empty());
  CHECK(missing("", "c") == "tools.google.api_key");
  CHECK(missing("k", "") == "tools.google.cx");
  CHECK(missing("", "") == "tools.google.api_key and tools.google.cx");
}

TEST_CASE("Google is asked for so many results, behind a query of the endpoint's own, and for JSON") {
  WebServer server(web_answer("{}", "application/json"));
  OfferedBench bench("google_search", of_google(server, "/v1?safe=on"));
  const ToolAnswer answer = bench.run({{"query", " a&b "}, {"max_results", 7}});
  CHECK(answer.structured == Json{{"query", "a&b"}, {"results", Json::array()}});
  CHECK_THAT(server.heads().at(0), has_text("GET /v1?safe=on&key=k&cx=c&num=7&q=a%26b HTTP/1.1\r\n") &&
                                       has_text("\r\nAccept: application/json\r\n"));
  bench.run({{"query", "q"}});
  CHECK_THAT(server.heads().at(1), has_text("&num=5&"));
  CHECK(bench.tool.reach == OfferedTool::Reach::kNetwork);
}

TEST_CASE("an error that Google tells is told on, or else its status, whatever else the answer has") {
  CHECK(google_failure(R"({"error":{"message":"Bad key"}})", "400 Bad") == "Google refuses: Bad key");
  CHECK(google_failure(R"({"error":{"message":"Bad key"},"items":[]})") == "Google refuses: Bad key");
  CHECK(google_failure(R"({"error":{"message":7}})", "403 No") == "Google refuses: HTTP status 403");
  CHECK(google_failure(R"({"error":{}})", "403 No") == "Google refuses: HTTP status 403");
  CHECK(google_failure(R"({"error":"x"})", "403 No") == "Google answers with HTTP status 403");
  CHECK(google_failure(R"({"items":[]})", "500 No") == "Google answers with HTTP status 500");
  CHECK(google_failure("[]") == "Google's answer is not as expected: it is no JSON object");
  CHECK(google_failure("{") == "Google's answer is not as expected: it is no JSON object");
}

TEST_CASE("items of Google's that are none are no results") {
  for (const char* const body : {R"({"items":7})", R"({"items":null})", R"({"items":[7,null,[]]})"}) {
    WebServer server(web_answer(body, "application/json"));
    CHECK(OfferedBench("google_search", of_google(server)).run({{"query", "q"}}).structured["results"].empty());
  }
}
