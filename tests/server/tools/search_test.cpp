// The tools that ask the network, against pages of our own making on loopback, which are built as the real ones are.
#include "server/tools/tool_bench.hpp"
#include "support/catch.hpp"
#include "support/certificate.hpp"
#include "support/web_server.hpp"

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

ToolSettings asking(const WebServer& server) {
  ToolSettings settings = Settings().tools;
  settings.duckduckgo_url = server.url("/html/");
  settings.google_url = server.url("/customsearch/v1");
  settings.google_api_key = "k&y";
  settings.google_cx = "c:x";
  settings.searxng_url = server.url("/searx");
  settings.allowed_addresses = {"127.0.0.0/8"};
  settings.cache_s = std::chrono::seconds(0);
  return settings;
}

// As the page for browsers without scripts has them: a title that leads through a counter, a snippet with marks.
std::string result_of(const std::string& link, const std::string& title, const std::string& snippet) {
  return "<div class=\"result results_links results_links_deep web-result \">"
         "<div class=\"links_main links_deep result__body\"><h2 class=\"result__title\">"
         "<a rel=\"nofollow\" class=\"result__a\" href=\"" +
         link + "\">" + title +
         "</a></h2>"
         "<div class=\"result__extras\"><a class=\"result__url\" href=\"" +
         link +
         "\"> example.org </a></div>"
         "<a class=\"result__snippet\" href=\"" +
         link + "\">" + snippet + "</a></div></div>";
}

std::string page_of(const std::string& results) {
  return "<!DOCTYPE html><html><head><title>x at DuckDuckGo</title></head><body><div id=\"links\" class=\"results\">" +
         results + "</div></body></html>";
}

Json duckduckgo(const std::string& answer, int most = 5) {
  WebServer server(answer);
  ToolBench bench(asking(server));
  return bench.call("duckduckgo_search", {{"query", "x"}, {"max_results", most}});
}

std::string complaint_of(const Json& error) {
  CHECK(error["code"] == -32002);
  return error["message"].get<std::string>();
}

}  // namespace

TEST_CASE("DuckDuckGo's results come as text and for programs, without advertisements") {
  WebServer server(
      web_answer(page_of(result_of("//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.org%2Fa%3Fb%3Dc%26d&amp;rut=0",
                                   "S&acirc;u <b>r&#259;ng</b>", "It&#x27;s   <b>caries</b> &amp; more") +
                         "<div class=\"result results_links results_links_deep result--ad \"><a class=\"result__a\" "
                         "href=\"https://duckduckgo.com/y.js?ad_domain=ads.example\">Buy</a></div>" +
                         result_of("https://duckduckgo.com/y.js?ad_provider=x", "Another ad", "x") +
                         result_of("https://example.net/direct", "Two", ""))));
  ToolBench bench(asking(server));
  const Json result = bench.call("duckduckgo_search", {{"query", "s\xc3\xa2u r\xc4\x83ng & co"}});
  CHECK(result["content"][0]["text"] ==
        "Title: Sâu răng\nContent: It's caries & more\nLink: https://example.org/a?b=c&d\n---\n"
        "Title: Two\nContent: \nLink: https://example.net/direct");
  CHECK(result["structuredContent"]["query"] == "sâu răng & co");
  CHECK(result["structuredContent"]["results"][0] ==
        Json{{"title", "Sâu răng"}, {"content", "It's caries & more"}, {"link", "https://example.org/a?b=c&d"}});
  CHECK_THAT(server.heads().at(0), has_text("GET /html/?q=s%C3%A2u%20r%C4%83ng%20%26%20co HTTP/1.1\r\n"));
}

TEST_CASE("no more results come than are wanted") {
  std::string results;
  for (int i = 0; i < 12; ++i) results += result_of("https://example.org/" + std::to_string(i), "t", "s");
  CHECK(duckduckgo(web_answer(page_of(results)), 3)["structuredContent"]["results"].size() == 3);
  CHECK(duckduckgo(web_answer(page_of(results)), 10)["structuredContent"]["results"].size() == 10);
}

TEST_CASE("that nothing was found is a result") {
  const Json result = duckduckgo(web_answer(page_of("<div class=\"result result--no-result\">No results.</div>")));
  CHECK(result["content"][0]["text"] == "No results found for query: x");
  CHECK(result["structuredContent"] == Json{{"query", "x"}, {"results", Json::array()}});
  CHECK(duckduckgo(web_answer(page_of("<div class=\"no-results\">No results for x</div>")))
            .contains("structuredContent"));
}

TEST_CASE("a captcha is said to be one") {
  const std::string page =
      "<form id=\"challenge-form\" action=\"//duckduckgo.com/anomaly.js\"><div class=\"anomaly-modal__title\">"
      "Unfortunately, bots use DuckDuckGo too.</div></form>";
  CHECK_THAT(complaint_of(duckduckgo(web_answer(page_of(page), "text/html", {}, "202 Accepted"))), has_text("captcha"));
  CHECK_THAT(complaint_of(duckduckgo(web_answer(page_of(page)))), has_text("captcha"));
}

TEST_CASE("pages that are no results are failures, not an absence of results") {
  CHECK_THAT(complaint_of(duckduckgo(web_answer("<p>Welcome"))), has_text("not as expected"));
  CHECK_THAT(complaint_of(duckduckgo(web_answer(""))), has_text("not as expected"));
  CHECK_THAT(complaint_of(duckduckgo(web_answer("x", "text/html", {}, "503 Busy"))), has_text("HTTP status 503"));
  CHECK_THAT(complaint_of(duckduckgo("")), has_text("does not answer"));
}

TEST_CASE("broken result pages are read as far as they are right") {
  const Json result = duckduckgo(
      web_answer("<div class=result><a class='result__a' "
                 "href=//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.org%2F>One<div class=x>"
                 "</a><a class=result__snippet>snip<p></div><div class='web-result result'><h2><a class=result__a "
                 "href=https://example.net/>Two</h2><span class=result__snippet>more"));
  CHECK(result["structuredContent"]["results"] ==
        Json::array({Json{{"title", "One"}, {"content", "snip"}, {"link", "https://example.org/"}},
                     Json{{"title", "Two"}, {"content", "more"}, {"link", "https://example.net/"}}}));
}

TEST_CASE("Google is asked through its interface for programs, and its key stays hidden") {
  const Json items{{"items", Json::array({Json{{"title", "One"}, {"snippet", "a\nb"}, {"link", "https://example.org/"}},
                                          Json{{"title", "Bad"}, {"link", "javascript:x"}}, 7,
                                          Json{{"title", nullptr}, {"link", "https://example.net/"}}})}};
  WebServer server(web_answer(items.dump(), "application/json"));
  ToolBench bench(asking(server));
  const Json result = bench.call("google_search", {{"query", "q"}, {"max_results", 3}});
  CHECK(result["structuredContent"]["results"] ==
        Json::array({Json{{"title", "One"}, {"content", "a b"}, {"link", "https://example.org/"}},
                     Json{{"title", ""}, {"content", ""}, {"link", "https://example.net/"}}}));
  CHECK_THAT(server.heads().at(0), has_text("GET /customsearch/v1?key=k%26y&cx=c%3Ax&num=3&q=q HTTP/1.1\r\n"));

  const auto failing = [&](const std::string& answer) {
    WebServer refusing(answer);
    ToolBench own(asking(refusing));
    std::string complaint = complaint_of(own.call("google_search", {{"query", "q"}}));
    CHECK(complaint.find("k%26y") == std::string::npos);
    CHECK(complaint.find("k&y") == std::string::npos);
    return complaint;
  };
  CHECK(failing(web_answer(R"({"error":{"code":429,"message":"Quota exceeded"}})", "application/json", {}, "429 X")) ==
        "Google refuses: Quota exceeded");
  CHECK_THAT(failing(web_answer("no", "text/html", {}, "500 X")), has_text("HTTP status 500"));
  CHECK_THAT(failing(web_answer("no")), has_text("no JSON object"));
  CHECK_THAT(failing(""), has_text("does not answer"));
  WebServer empty(web_answer(R"({"searchInformation":{"totalResults":"0"}})", "application/json"));
  ToolBench own(asking(empty));
  CHECK(own.text("google_search", {{"query", "q"}}) == "No results found for query: q");
}

TEST_CASE("a SearXNG instance is asked, and told what it lacks") {
  WebServer server(
      web_answer(R"({"results":[{"title":"One","url":"https://example.org/","content":"c"},{"title":"x","url":null}]})",
                 "application/json"));
  ToolBench bench(asking(server));
  CHECK(bench.text("searxng_search", {{"query", "a b"}}) == "Title: One\nContent: c\nLink: https://example.org/");
  CHECK_THAT(server.heads().at(0), has_text("GET /searx/search?format=json&q=a%20b HTTP/1.1\r\n"));
  WebServer refusing(web_answer("x", "text/html", {}, "403 Forbidden"));
  ToolBench own(asking(refusing));
  CHECK_THAT(complaint_of(own.call("searxng_search", {{"query", "q"}})), has_text("search.formats"));
}

TEST_CASE("results that are nested beyond all measure are none") {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  WebServer google(web_answer(R"({"items":[{"title":)" + deep + "}]}", "application/json"));
  ToolBench first(asking(google));
  CHECK_THAT(complaint_of(first.call("google_search", {{"query", "q"}})), has_text("no JSON object"));
  WebServer searxng(web_answer(R"({"results":[{"content":)" + deep + "}]}", "application/json"));
  ToolBench second(asking(searxng));
  CHECK_THAT(complaint_of(second.call("searxng_search", {{"query", "q"}})), has_text("not as expected"));
}

TEST_CASE("a page is read as Markdown, in parts if it is long") {
  WebServer server([](const std::string& head, WebServer::Socket& socket) {
    if (head.starts_with("GET /old")) return (void)WebServer::send(socket, web_redirect("/new"));
    WebServer::send(socket,
                    web_answer("<title>T</title><h1>Head</h1><p>s\xc3\xa2u <a href=/l>link</a>" + std::string(200, 'x'),
                               "text/html; charset=iso-8859-1"));
  });
  ToolBench bench(asking(server));
  const Json whole = bench.call("fetch_page", {{"url", server.url("/old")}})["structuredContent"];
  CHECK(whole["url"] == server.url("/new"));
  CHECK(whole["title"] == "T");
  CHECK(whole["text"] == "# Head\n\nsâu [link](" + server.url("/l") + ")" + std::string(200, 'x'));
  CHECK(whole["charset"] == "utf-8");
  CHECK(whole["next_start"] == nullptr);
  CHECK(whole["is_cut"] == false);
  std::string joined;
  Json start = 0;
  while (!start.is_null()) {
    const Json part = bench.call("fetch_page", {{"url", server.url()}, {"max_characters", 100}, {"start", start}});
    joined += part["structuredContent"]["text"];
    start = part["structuredContent"]["next_start"];
  }
  CHECK(joined == whole["text"].get<std::string>());
  CHECK_THAT(bench.text("fetch_page", {{"url", server.url()}, {"max_characters", 100}}),
             has_text("Title: T\n\n# Head") && has_text("[The text goes on: start=100]"));
}

TEST_CASE("packed pages are unpacked") {
  const auto fetched = [](const std::string& body, const std::string& encoding) {
    WebServer server(web_answer(body, "text/html", "Content-Encoding: " + encoding + "\r\n"));
    ToolBench bench(asking(server));
    return bench.text("fetch_page", {{"url", server.url()}});
  };
  const std::string gzip(
      "\037\213\010\000\000\000\000\000\002\003\263\051\311\054\311\111\265\053\110\114\316\116\115\261\321\207\360\154"
      "\012\354\322\253\062\013\024\340\004\000\051\230\143\066\046\000\000\000",
      46);
  const std::string brotli(
      "\033\053\000\370\035\251\121\237\073\342\332\107\014\116\116\202\220\321\165\131\032\333\233\026\244\020\150\362"
      "\321\011\154\320\012\102\224\022\132\377\207\177\002",
      41);
  CHECK(fetched(gzip, "gzip") == "Title: packed\n\ngzip gzip gzip");
  CHECK_THAT(fetched("no gzip at all", "gzip"), has_text("-32002"));
  CHECK_THAT(fetched("x", "zstd"), has_text("an encoding that was not asked for"));
#ifdef CPPHTTPLIB_BROTLI_SUPPORT
  CHECK(fetched(brotli, "br") == "Title: packed\n\nbrotli brotli brotli");
#else
  CHECK_THAT(fetched(brotli, "br"), has_text("an encoding that was not asked for"));
#endif
}

TEST_CASE("what is no text, and what is not there, is said") {
  const auto complaint = [](const std::string& answer) {
    WebServer server(answer);
    ToolBench bench(asking(server));
    return complaint_of(bench.call("fetch_page", {{"url", server.url()}}));
  };
  CHECK_THAT(complaint(web_answer("%PDF", "application/pdf")), has_text("application/pdf"));
  CHECK_THAT(complaint(web_answer("x", "text/html", {}, "404 Not Found")), has_text("HTTP status 404"));
  CHECK_THAT(complaint("garbage\r\n\r\n"), has_text("127.0.0.1"));
  WebServer plain(web_answer("a < b\n", "text/plain"));
  ToolBench bench(asking(plain));
  CHECK(bench.text("fetch_page", {{"url", plain.url()}}) == "a < b\n");
  CHECK_THAT(complaint_of(bench.call("fetch_page", {{"url", "http://169.254.169.254/latest/meta-data"}})),
             has_text("link-local"));
}

TEST_CASE("a page that its parser dies of is a failure of that call") {
  WebServer server(web_answer([] {
    std::string page;
    for (int i = 0; i < 300'000; ++i) page += "<div>";
    return page;
  }()));
  ToolServer::Options options;
  options.page_computing = std::chrono::seconds(1);
  ToolBench bench(asking(server), options);
  CHECK_THAT(complaint_of(bench.call("fetch_page", {{"url", server.url()}})), has_text("too long to read"));
}
