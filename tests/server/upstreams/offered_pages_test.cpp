// Lists that a hostile server makes long, or endless.
#include "upstreams/offered_watch.hpp"

#include "client/connection.hpp"
#include "support/catch.hpp"

#include <string>

namespace rkllm_mcp {

TEST_CASE("a list is read page by page, each with the cursor of the one before") {
  OfferedPages pages(list_of(Offered::kTools));
  CHECK(pages.params() == Json::object());
  CHECK(pages.take(Json{{"tools", {1, 2}}, {"nextCursor", "c"}}));
  CHECK(pages.params() == Json{{"cursor", "c"}});
  CHECK_FALSE(pages.take(Json{{"tools", {3}}, {"nextCursor", nullptr}}));
  CHECK(pages.entries().size() == 3);
  CHECK(pages.cut_short().empty());
}

TEST_CASE("a cursor that comes again ends the list, and so does one that is no text") {
  OfferedPages pages(list_of(Offered::kTools));
  CHECK(pages.take(Json{{"tools", {1}}, {"nextCursor", "c"}}));
  const Json again = GENERATE(Json("c"), Json(5));
  CHECK_FALSE(pages.take(Json{{"tools", Json::array()}, {"nextCursor", again}}));
  CHECK_FALSE(pages.cut_short().empty());
  CHECK(pages.entries().size() == 1);
}

TEST_CASE("no more than 1000 tools are taken of a list") {
  OfferedPages pages(list_of(Offered::kTools));
  CHECK_FALSE(pages.take(Json{{"tools", Json(std::vector<int>(2000, 1))}, {"nextCursor", "c"}}));
  CHECK(pages.entries().size() == 1000);
  CHECK_FALSE(pages.cut_short().empty());
}

TEST_CASE("no more than 262,144 values are taken of a list") {
  OfferedPages pages(list_of(Offered::kTools));
  const Json tool{{"inputSchema", {{"enum", std::vector<int>(100'000)}}}};
  CHECK(pages.take(Json{{"tools", {tool, tool}}, {"nextCursor", "c"}}));
  CHECK_FALSE(pages.take(Json{{"tools", {tool}}, {"nextCursor", "d"}}));
  CHECK(pages.entries().size() == 2);
  CHECK(pages.cut_short() == "only the first 262144 values of tools are taken");
}

TEST_CASE("no more than 2 MiB of tools are taken of a list") {
  OfferedPages pages(list_of(Offered::kTools));
  const std::string large(1 << 18, 'x');
  bool has_more = true;
  for (int page = 0; has_more; ++page)
    has_more = pages.take(Json{{"tools", {large}}, {"nextCursor", std::to_string(page)}});
  CHECK(pages.entries().size() == 7);
  CHECK_FALSE(pages.cut_short().empty());
}

TEST_CASE("an answer that is no page is refused") {
  const client::Outcome answer = GENERATE(client::Outcome(Json(5)), client::Outcome(Json{{"tools", 5}}),
                                          client::Outcome(client::RemoteError{-32000, "no", nullptr}));
  OfferedPages pages(list_of(Offered::kTools));
  CHECK_THROWS_AS(pages.take(answer), client::ConnectionError);
}

}  // namespace rkllm_mcp
