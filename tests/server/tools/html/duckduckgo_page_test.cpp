#include "tools/html/html_document.hpp"

#include "support/catch.hpp"

#include <stdexcept>
#include <string>

using namespace rkllm_mcp;

namespace {

Json page_as_results(const std::string& body) {
  const HtmlDocument document("<!DOCTYPE html><html><body>" + body + "</body></html>");
  return read_duckduckgo_page(document, parse_url("https://html.duckduckgo.com/html/"));
}

std::string entry(const std::string& link, const std::string& title, const std::string& snippet,
                  const std::string& kind = "web-result") {
  return "<div class=\"result " + kind + "\"><h2><a class=\"result__a\" href=\"" + link + "\">" + title +
         "</a></h2><a class=\"result__snippet\" href=\"" + link + "\">" + snippet + "</a></div>";
}

Json results_of(const std::string& body) { return page_as_results(body).at("results"); }

Json result(const std::string& title, const std::string& content, const std::string& link) {
  return {{"title", title}, {"content", content}, {"link", link}};
}

}  // namespace

TEST_CASE("results are read in the page's order, with what a reader sees of title and snippet") {
  CHECK(results_of(entry("https://a.example/?x=1&amp;y", "A <b>bold</b>\n title", "It&#x27;s <b>A</b>") +
                   entry("http://b.example", "B", "")) ==
        Json::array(
            {result("A bold title", "It's A", "https://a.example/?x=1&y"), result("B", "", "http://b.example/")}));
}

TEST_CASE("a link through the page that counts is told as the address that it leads to") {
  CHECK(results_of(entry("//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2F%C3%A9%3Fb%3Dc&amp;rut=0", "A", "a") +
                   entry("/l/?uddg=http%3A%2F%2Fb.example%2F", "B", "b")) ==
        Json::array({result("A", "a", "https://a.example/%C3%A9?b=c"), result("B", "b", "http://b.example/")}));
  // Other hosts may have such a query, too, and their addresses are left alone.
  const std::string elsewhere = "https://notduckduckgo.com/l/?uddg=http%3A%2F%2Fb.example%2F";
  CHECK(results_of(entry(elsewhere, "A", "a")) == Json::array({result("A", "a", elsewhere)}));
}

TEST_CASE("advertisements are left out, whether by their class or by their address, with their snippets") {
  CHECK(results_of(entry("https://ad.example", "Ad", "buy", "result--ad") + entry("https://a.example/", "A", "a") +
                   entry("https://duckduckgo.com/y.js?ad_domain=x", "Ad", "buy")) ==
        Json::array({result("A", "a", "https://a.example/")}));
}

TEST_CASE("results without a web address are left out, and their snippets go to no other result") {
  CHECK(results_of(entry("https://a.example/", "A", "a") + entry("javascript:alert(1)", "J", "j") +
                   entry("https://duckduckgo.com/l/?uddg=ftp%3A%2F%2Fb.example", "F", "f") +
                   "<a class=\"result__a\">none</a><a class=\"result__snippet\">n</a>") ==
        Json::array({result("A", "a", "https://a.example/")}));
}

TEST_CASE("a result has the first snippet behind its title, or none") {
  CHECK(results_of("<a class=result__snippet>early</a><a class=result__a href=https://a.example/>A</a>"
                   "<a class=result__a href=https://b.example/>B</a><p class=result__snippet>b</p>"
                   "<p class=result__snippet>late</p>") ==
        Json::array({result("A", "", "https://a.example/"), result("B", "b", "https://b.example/")}));
}

TEST_CASE("a link that is not closed is one result") {
  const Json results = results_of("<div><h2><a class=result__a href=https://a.example/>A</h2></div><div>more</div>");
  REQUIRE(results.size() == 1);
  CHECK(results[0]["link"] == "https://a.example/");
}

TEST_CASE("a page that says that there is nothing has no results") {
  CHECK(page_as_results("<div class=\"no-results\">nothing</div>") == Json{{"results", Json::array()}});
  CHECK(page_as_results("<div class=\"result result--no-result\">nothing</div>") == Json{{"results", Json::array()}});
  CHECK(page_as_results(entry("https://ad.example", "Ad", "buy", "result--ad")) == Json{{"results", Json::array()}});
}

TEST_CASE("a page that asks for a person is a refusal, whatever else it has") {
  const std::string results = entry("https://a.example/", "A", "a");
  CHECK(page_as_results(results + "<form id=\"challenge-form\"></form>") == Json{{"refused", true}});
  CHECK(page_as_results("<div class=\"anomaly-modal__title\">Select all ducks</div>") == Json{{"refused", true}});
}

TEST_CASE("any other page is unknown") {
  CHECK(page_as_results("") == Json{{"unknown", true}});
  CHECK(page_as_results("<h1>502 Bad Gateway</h1><a href=https://a.example/>A</a>") == Json{{"unknown", true}});
}

TEST_CASE("results within each other that repeat what is in them end where an answer gets too long") {
  std::string body;
  for (int i = 0; i < 200; ++i) body += "<div class=result__a href=https://a.example/" + std::to_string(i) + ">";
  CHECK_THROWS_AS(page_as_results(body + std::string(100'000, 'x')), std::length_error);
  CHECK(results_of(body + "x").size() == 200);
}
