#include "server/tools/offered/offered_bench.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"

#include <rkllm_mcp/errors.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

constexpr const char* kMarkedPage = "a <b>c</b>";

// What is made of a page that is said to be of that type.
ToolAnswer fetched_as(const std::string& type) {
  WebServer server(web_answer(kMarkedPage, type));
  return OfferedBench("fetch_page").run({{"url", server.url()}});
}

}  // namespace

TEST_CASE("what is no address of the web is the caller's fault, and nothing is fetched") {
  OfferedBench bench("fetch_page");
  for (const char* const wrong :
       {"example.org", "ftp://example.org/", "file:///etc/passwd", "http://", "http://a b/"}) {
    INFO(wrong);
    const RpcError error = error_of([&] { bench.run({{"url", wrong}}); });
    CHECK(error.code() == ErrorCode::kInvalidParams);
    CHECK(error.data() == Json{{"path", "params.arguments.url"}});
  }
  CHECK(bench.progress.empty());
  CHECK(bench.tool.reach == OfferedTool::Reach::kNetwork);
}

TEST_CASE("pages become Markdown, other texts stay as they are, whatever spelling their type has") {
  for (const char* const page : {"text/html", "TEXT/HTML", " text/html ; charset=utf-8", "application/xhtml+xml", ""}) {
    INFO(page);
    CHECK(fetched_as(page).structured["text"] == "a c");
  }
  for (const char* const text : {"text/plain", "Text/Markdown;charset=utf-8", "application/json", "application/xml",
                                 "application/ld+json", "image/svg+xml", "application/javascript"}) {
    INFO(text);
    CHECK(fetched_as(text).structured["text"] == kMarkedPage);
  }
  for (const char* const other : {"application/pdf", "image/png", "application/jsonp", "video/text"}) {
    WebServer server(web_answer(kMarkedPage, other));
    CHECK(OfferedBench("fetch_page").failure({{"url", server.url()}}) ==
          "what is there is no text: its type is " + std::string(other));
  }
}

TEST_CASE("a long text comes in parts of characters, each of which says where the next one begins") {
  std::string text;
  for (int n = 0; n < 250; ++n) text += n % 2 == 0 ? "đ" : "x";
  WebServer server(web_answer(text, "text/plain"));
  OfferedBench bench("fetch_page");
  std::string joined;
  std::vector<Json> starts;
  for (Json start = 0; !start.is_null();) {
    const ToolAnswer part = bench.run({{"url", server.url()}, {"max_characters", 100}, {"start", start}});
    joined += part.structured["text"].get<std::string>();
    start = part.structured["next_start"];
    starts.push_back(start);
    const std::string more = "\n\n[The text goes on: start=" + start.dump() + "]";
    CHECK(part.text == part.structured["text"].get<std::string>() + (start.is_null() ? "" : more));
  }
  CHECK(joined == text);
  CHECK(starts == std::vector<Json>{100, 200, nullptr});
  const ToolAnswer exactly = bench.run({{"url", server.url()}, {"max_characters", 150}, {"start", 100}});
  CHECK(exactly.structured["next_start"].is_null());
  const ToolAnswer beyond = bench.run({{"url", server.url()}, {"start", 251}});
  CHECK(beyond.text.empty());
  CHECK(beyond.structured["text"] == "");
  CHECK(beyond.structured["next_start"].is_null());
}

TEST_CASE("a page's title stands above the first part of its text, and is told to programs with every part") {
  WebServer server(web_answer("<title>Name</title><p>" + std::string(150, 'x'), "text/html"));
  OfferedBench bench("fetch_page");
  CHECK(bench.run({{"url", server.url()}, {"max_characters", 100}}).text.find("Title: Name\n\nxxx") == 0);
  const ToolAnswer second = bench.run({{"url", server.url()}, {"start", 100}});
  CHECK(second.text == std::string(50, 'x'));
  CHECK(second.structured["title"] == "Name");
  CHECK(bench.run({{"url", server.url()}}).text == "Title: Name\n\n" + std::string(150, 'x'));
}

TEST_CASE("a text that is longer than what may be read of it is said to be, at the end of what was read") {
  WebServer server(web_answer(std::string(301, 'x'), "text/plain"));
  ToolSettings settings = Settings().tools;
  settings.page_bytes = 300;
  OfferedBench bench("fetch_page", settings);
  const ToolAnswer end = bench.run({{"url", server.url()}, {"start", 200}});
  CHECK(end.text == std::string(100, 'x') + "\n\n[The page is longer than what was read of it]");
  CHECK(end.structured["is_cut"] == true);
  CHECK(end.structured["next_start"].is_null());
  const ToolAnswer begin = bench.run({{"url", server.url()}, {"max_characters", 200}});
  CHECK(begin.text == std::string(200, 'x') + "\n\n[The text goes on: start=200]");
  CHECK(begin.structured["is_cut"] == true);
  settings.page_bytes = 301;
  CHECK(OfferedBench("fetch_page", settings).run({{"url", server.url()}}).structured["is_cut"] == false);
}

TEST_CASE("any success is read, and any other status is a failure that names the host") {
  for (const char* const good : {"200 OK", "201 Created", "299 Odd"}) {
    WebServer server(web_answer("x", "text/plain", {}, good));
    CHECK(OfferedBench("fetch_page").run({{"url", server.url()}}).text == "x");
  }
  for (const auto& [status, words] : std::vector<std::pair<std::string, std::string>>{
           {"304 Not Modified", "304"}, {"404 Not Found", "404"}, {"500 Broken", "500"}}) {
    WebServer server(web_answer("x", "text/plain", {}, status));
    CHECK(OfferedBench("fetch_page").failure({{"url", server.url()}}) == "127.0.0.1 answers with HTTP status " + words);
  }
}

TEST_CASE("who fetches is told of the host and of how much came, and the server of what is wanted") {
  WebServer server(web_answer("12345", "text/plain"));
  OfferedBench bench("fetch_page");
  bench.run({{"url", server.url("/secret?key=1")}});
  CHECK(bench.progress ==
        std::vector<Json>{Json{0.0, 2.0, "fetching from 127.0.0.1"}, Json{1.0, 2.0, "reading 5 bytes"}});
  CHECK_THAT(server.heads().at(0), has_text("\r\nAccept: text/html, text/plain;q=0.9, */*;q=0.1\r\n"));
}
