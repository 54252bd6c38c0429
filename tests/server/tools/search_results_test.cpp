#include "tools/search_results.hpp"

#include "mcp/tools/invocation.hpp"
#include "support/catch.hpp"

#include <string>

using namespace rkllm_mcp;
using test::has_text;

namespace {

Json found(const std::string& title, const std::string& content, const std::string& link) {
  return {{"title", title}, {"content", content}, {"link", link}};
}

Url endpoint_of(const std::string& target) { return parse_url("https://search.example:8080" + target); }

}  // namespace

TEST_CASE("results are told as text and for programs, with the query") {
  const Json results{found("A", "a", "https://a.example"), found("B", "b", "http://b.example")};
  const ToolAnswer answer = search_answer("q", results, 5);
  CHECK(answer.text ==
        "Title: A\nContent: a\nLink: https://a.example\n---\nTitle: B\nContent: b\nLink: http://b.example");
  CHECK(answer.structured == Json{{"query", "q"}, {"results", results}});
}

TEST_CASE("so many results are told as are wanted, of those that have a link of the web") {
  const Json results{found("J", "", "javascript:alert(1)"),
                     found("A", "a", "https://a.example"),
                     found("N", "", ""),
                     {{"title", "T"}, {"content", "t"}},
                     found("B", "b", "http://b.example"),
                     found("C", "c", "https://c.example")};
  const ToolAnswer answer = search_answer("q", results, 2);
  CHECK(answer.structured["results"] ==
        Json{found("A", "a", "https://a.example"), found("B", "b", "http://b.example")});
  CHECK(search_answer("q", results, 3).structured["results"].size() == 3);
  CHECK(search_answer("q", results, 4).structured["results"].size() == 3);
}

TEST_CASE("titles and contents are told on one line, without spaces around them") {
  const Json results{found(" A\t\r\n title ", std::string("a\0\x1b[1m b", 8), " https://a.example\n")};
  CHECK(search_answer("q", results, 1).structured["results"] == Json{found("A title", "a [1m b", "https://a.example")});
}

TEST_CASE("members that are missing or no text are told as empty") {
  const Json results{{{"link", "https://a.example"}, {"title", 5}}};
  const ToolAnswer answer = search_answer("q", results, 1);
  CHECK(answer.structured["results"] == Json{found("", "", "https://a.example")});
  CHECK(answer.text == "Title: \nContent: \nLink: https://a.example");
}

TEST_CASE("where nothing is found, the text says for which query") {
  for (const Json& nothing : {Json::array(), Json{found("A", "a", "ftp://a.example")}}) {
    const ToolAnswer answer = search_answer("s\xC3\xA2u", nothing, 5);
    CHECK(answer.text == "No results found for query: s\xC3\xA2u");
    CHECK(answer.structured == Json{{"query", "s\xC3\xA2u"}, {"results", Json::array()}});
  }
}

TEST_CASE("a query goes out without the spaces around it, and an empty one is refused with its path") {
  CHECK(query_in(Json{{"query", " \tone  two\n"}}) == "one  two");
  for (const char* empty : {"", " ", "\t\n"}) {
    CHECK_THROWS_WITH(query_in(Json{{"query", empty}}), has_text("params.arguments.query"));
  }
}

TEST_CASE("values are put behind an endpoint's own query") {
  CHECK(with_query(endpoint_of("/search"), "q=a%20b").text() == "https://search.example:8080/search?q=a%20b");
  CHECK(with_query(endpoint_of("/search?key=k"), "q=a").text() == "https://search.example:8080/search?key=k&q=a");
}

TEST_CASE("the schemas take a query of 1 to 500 characters and 1 to 10 results, and describe the answer") {
  const Json schema = search_input_schema();
  const auto checked = [&schema](const Json& arguments) { return mcp::checked_arguments(schema, arguments); };
  CHECK_NOTHROW(checked({{"query", std::string(500, 'q')}, {"max_results", 10}}));
  CHECK_NOTHROW(checked({{"query", "q"}, {"max_results", 1}}));
  CHECK_THROWS(checked({{"query", std::string(501, 'q')}}));
  CHECK_THROWS(checked({{"query", ""}}));
  CHECK_THROWS(checked({{"query", "q"}, {"max_results", 11}}));
  CHECK_THROWS(checked({{"query", "q"}, {"max_results", 0}}));
  CHECK_THROWS(checked(Json::object()));
  CHECK(checked({{"query", "q"}})["max_results"] == 5);
  CHECK(search_output_schema()["required"] == Json{"query", "results"});
}
