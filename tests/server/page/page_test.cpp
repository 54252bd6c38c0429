// Who gets the web page, and in which form.
#include "page/web_page.hpp"

#include "runtime/kept_answer.hpp"
#include "support/catch.hpp"
#include "support/http_client.hpp"
#include "support/live_server.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp::test {
namespace {

// Nothing: it is not for the page.
std::optional<http::Response> answer_to(const std::string& path, http::Headers headers,
                                        const std::string& method = "GET") {
  static const WebPage page;
  http::Request request;
  request.method = method;
  request.path = path;
  request.headers = std::move(headers);
  const auto exchange = std::make_shared<KeptAnswer>();
  const bool is_mine = page.handle(request, *exchange);
  CHECK(is_mine == exchange->answer.has_value());
  return exchange->answer;
}

constexpr const char* kOfBrowsers = "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8";

std::string header(const http::Response& response, std::string_view name) {
  return std::string(response.headers.find(name).value_or("(none)"));
}

}  // namespace

TEST_CASE("the page at / is for those who ask for HTML") {
  const auto page = answer_to("/", {{"Accept", kOfBrowsers}});
  REQUIRE(page);
  CHECK(page->status == 200);
  CHECK(page->content_type == "text/html; charset=utf-8");
  CHECK(page->body.find("/page/page.js") != std::string::npos);
  CHECK(answer_to("/", {{"Accept", " TEXT/HTML ;level=1"}}));
  CHECK(answer_to("/", {{"Accept", "application/json, text/html;q=0.5"}}, "HEAD"));

  CHECK_FALSE(answer_to("/", {}));
  CHECK_FALSE(answer_to("/", {{"Accept", "*/*"}}));
  CHECK_FALSE(answer_to("/", {{"Accept", "application/json, text/html; q=0"}}));
  CHECK_FALSE(answer_to("/", {{"Accept", kOfBrowsers}}, "POST"));
  CHECK_FALSE(answer_to("/page/other.js", {{"Accept", kOfBrowsers}}));
}

TEST_CASE("nothing but the page's own files may run in it") {
  for (const char* const path : {"/", "/page/page.js", "/page/page.css", "/page/icon.svg"}) {
    const auto file = answer_to(path, {{"Accept", kOfBrowsers}});
    REQUIRE(file);
    const std::string policy = header(*file, "Content-Security-Policy");
    CHECK(policy.starts_with("default-src 'self';"));
    CHECK(policy.find("unsafe") == std::string::npos);
    CHECK(policy.find("frame-ancestors 'none'") != std::string::npos);
    CHECK(header(*file, "Referrer-Policy") == "no-referrer");
  }
  // No script and no style stands in the page itself: the policy would refuse it.
  const std::string html = answer_to("/", {{"Accept", kOfBrowsers}})->body;
  CHECK(html.find("<style") == std::string::npos);
  CHECK(html.find("<script>") == std::string::npos);
  CHECK(html.find(" style=") == std::string::npos);
  // Browsers send an Origin with modules, also to the page's own server, which refuses those of names it does not know.
  CHECK(html.find("type=\"module\"") == std::string::npos);
}

TEST_CASE("a file of the page is compressed for those who take gzip") {
  const auto zipped = answer_to("/page/page.js", {{"Accept-Encoding", "gzip, deflate, br"}});
  REQUIRE(zipped);
  CHECK(header(*zipped, "Content-Encoding") == "gzip");
  CHECK(zipped->body.substr(0, 2) == "\x1f\x8b");
  const auto plain = answer_to("/page/page.js", {{"Accept-Encoding", "gzip;q=0, br"}});
  REQUIRE(plain);
  CHECK(header(*plain, "Content-Encoding") == "(none)");
  CHECK(plain->body.size() > 2 * zipped->body.size());
  CHECK(header(*plain, "ETag") != header(*zipped, "ETag"));
  CHECK(header(*plain, "Vary").find("Accept-Encoding") != std::string::npos);
}

TEST_CASE("a file that a browser has already is not sent again") {
  const auto file = answer_to("/page/page.css", {});
  REQUIRE(file);
  const std::string tag = header(*file, "ETag");
  for (const std::string& known : {tag, "W/" + tag, "\"other\", " + tag, std::string("*")}) {
    const auto again = answer_to("/page/page.css", {{"If-None-Match", known}});
    REQUIRE(again);
    CHECK(again->status == 304);
    CHECK(again->body.empty());
    CHECK(header(*again, "ETag") == tag);
  }
  CHECK(answer_to("/page/page.css", {{"If-None-Match", "\"other\""}})->status == 200);
}

TEST_CASE("the page is served without an access token, and what it asks for is not") {
  LiveServer::Options options;
  const TemporaryDirectory directory;
  const std::string tokens = directory / "tokens";
  std::ofstream(tokens) << "somebody an-access-token-of-somebody\n";
  std::filesystem::permissions(tokens, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  options.set = {"auth.tokens=" + tokens};
  const LiveServer server(options);
  HttpClient client(server.endpoint(Transport::kHttp));
  client.carry_header("Accept", "text/html");
  CHECK(client.get("/").status == 200);
  CHECK(client.get("/page/page.js").status == 200);
  CHECK(client.get("/metrics").status == 401);
  CHECK(client.get("/v1/models").status == 401);
  // A name that another machine's pages may have been given in a lookup is refused before.
  client.carry_header("Host", "elsewhere.example");
  CHECK(client.get("/page/page.js").status == 403);
}

TEST_CASE("the log is shown to those who may do everything, from a line on") {
  LiveServer::Options options;
  const TemporaryDirectory directory;
  const std::string tokens = directory / "tokens";
  std::ofstream(tokens) << "admin an-access-token-of-an-admin\nguest an-access-token-of-a-guest call\n";
  std::filesystem::permissions(tokens, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  options.set = {"auth.tokens=" + tokens};
  const LiveServer server(options);
  HttpClient client(server.endpoint(Transport::kHttp));
  CHECK(client.get("/log").status == 401);
  client.carry_header("Authorization", "Bearer an-access-token-of-a-guest");
  const auto refused = client.get("/log");
  CHECK(refused.status == 403);
  CHECK_THAT(refused.body, has_text("permission admin"));
  client.carry_header("Authorization", "Bearer an-access-token-of-an-admin");
  const Json log = Json::parse(client.get("/log").body);
  CHECK(log["first"] == 1);
  REQUIRE_FALSE(log["lines"].empty());
  CHECK_THAT(log["lines"][0].get<std::string>(), has_text("rkllm-mcp "));
  const auto next = log["next"].get<std::uint64_t>();
  CHECK(next == 1 + log["lines"].size());
  const Json later = Json::parse(client.get("/log?from=" + std::to_string(next)).body);
  CHECK(later["first"] == next);
  CHECK_THAT(client.get("/log").body, !has_text("/log"));  // looking at the log writes nothing into it
  CHECK(Json::parse(client.get("/log?from=2").body)["first"] == 2);
  CHECK(client.get("/log?from=x").status == 400);
}

TEST_CASE("http.page=false leaves the page out") {
  LiveServer::Options options;
  options.set = {"http.page=false"};
  const LiveServer server(options);
  HttpClient client(server.endpoint(Transport::kHttp));
  client.carry_header("Accept", "text/html");
  CHECK(client.get("/").body == "Ollama is running");
  CHECK(client.get("/page/page.js").status == 404);
}

}  // namespace rkllm_mcp::test
