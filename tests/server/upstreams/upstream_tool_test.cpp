// Which of the tools that others list are served, and as what; and what may be passed on as their answers.
#include "upstreams/upstream_tool.hpp"

#include "support/catch.hpp"

#include <set>
#include <string>
#include <vector>

namespace rkllm_mcp {
namespace {

Json listed_tool(const std::string& name, const Json& more = Json::object()) {
  Json tool{{"name", name}, {"inputSchema", {{"type", "object"}}}};
  tool.update(more);
  return tool;
}

}  // namespace

TEST_CASE("a tool that is none is left out, and it is said why") {
  const auto [text, why] = GENERATE(table<const char*, const char*>({
      {R"(5)", "without a name"},
      {R"({"name":5,"inputSchema":{"type":"object"}})", "without a name"},
      {R"({"name":"t"})", "inputSchema"},
      {R"({"name":"t","inputSchema":5})", "inputSchema"},
      {R"({"name":"t","inputSchema":{"type":"string"}})", "inputSchema"},
      {R"({"name":"t","inputSchema":{"type":"object"},"outputSchema":"x"})", "outputSchema"},
      {R"({"name":"t","inputSchema":{"type":"object"},"title":5})", "title"},
      {R"({"name":"t","inputSchema":{"type":"object"},"description":[]})", "description"},
      {R"({"name":"t","inputSchema":{"type":"object"},"annotations":[]})", "annotations"},
      {R"({"name":"t u","inputSchema":{"type":"object"}})", "hosts refuse"},
      {R"({"name":"a234567890123456789012345678901234567890123456789012345678901234","inputSchema":{"type":"object"}})",
       "hosts refuse"},
  }));
  const SortedTools sorted = sort_tools("up", {Json::parse(text), listed_tool("good")});
  CHECK(sorted.served == std::vector<Json>{listed_tool("good")});
  REQUIRE(sorted.left_out.size() == 1);
  CHECK_THAT(sorted.left_out[0], test::has_text(why));
}

TEST_CASE("a tool of more than 256 KiB is left out") {
  const Json large = listed_tool("t", {{"description", std::string(256 << 10, 'x')}});
  CHECK(sort_tools("up", {large}).served.empty());
}

TEST_CASE("a.b never displaces a_b, whichever is listed first, and both keep their names when the other goes") {
  const Json dotted = listed_tool("a.b");
  const Json plain = listed_tool("a_b");
  for (const auto& list : {std::vector<Json>{dotted, plain}, std::vector<Json>{plain, dotted}}) {
    CHECK(sort_tools("up", list).served == list);
  }
  CHECK(served_tool("up", plain).name == "up_a_b");
  CHECK(served_tool("up", dotted).name == served_name("up", "a.b"));
  CHECK(served_name("up", "a.b").starts_with("up_a_b_"));
  CHECK(served_name("up", "a.b").size() == std::string("up_a_b_").size() + 8);
  CHECK(served_name("up", "a.b") != served_name("up", "a..b"));
  const std::string longest(60, 'x');
  CHECK(served_name("up", longest + ".1") != served_name("up", longest + ".2"));
  CHECK(is_tool_name(served_name("up", longest + ".1")));
}

TEST_CASE("of two tools of one name the first is served") {
  const SortedTools sorted = sort_tools("up", {listed_tool("a", {{"title", "1"}}), listed_tool("a")});
  CHECK(sorted.served == std::vector<Json>{listed_tool("a", {{"title", "1"}})});
  CHECK(sorted.left_out.size() == 1);
}

TEST_CASE("only the tools that the settings want are served, and nothing is said of the others") {
  const std::vector<Json> all{listed_tool("read_file"), listed_tool("write_file"), listed_tool("read_all")};
  const SortedTools some = sort_tools("up", all, {.allow = {"read_*", "x"}, .deny = {"*_all"}});
  CHECK(some.served == std::vector<Json>{all[0]});
  CHECK(some.left_out.empty());
  CHECK(sort_tools("up", all, {.allow = {}, .deny = {"write_????"}}).served == std::vector<Json>{all[0], all[2]});
}

TEST_CASE("a server that is its own upstream is served once, another's prefix that happens to be ours is no matter") {
  const SortedTools sorted = sort_tools("a", {listed_tool("run"), listed_tool("a_run"), listed_tool("a_b"),
                                              listed_tool("x.y"), listed_tool(served_name("a", "x.y"))});
  CHECK(sorted.served == std::vector<Json>{listed_tool("run"), listed_tool("a_b"), listed_tool("x.y")});
}

TEST_CASE("a tool is served with the upstream's name, and its title is kept wherever it is") {
  const mcp::Tool tool =
      served_tool("up", listed_tool("files_read", {{"annotations", {{"title", "Read"}, {"readOnlyHint", true}}}}));
  CHECK(tool.name == "up_files_read");
  CHECK(tool.title == "Read (up)");
  REQUIRE(tool.annotations);
  CHECK(tool.annotations->read_only);
  CHECK(tool.annotations->open_world);
  CHECK(served_tool("up", listed_tool("t", {{"title", "T"}, {"annotations", {{"title", "Other"}}}})).title == "T (up)");
}

TEST_CASE("text of others cannot begin a line of the log, nor fill it") {
  CHECK(for_the_log("a\n[error] b\x1b[0m") == "a [error] b [0m");
  CHECK(for_the_log("a\u009b0m") == "a 0m");
  CHECK(for_the_log(std::string(1000, 'x')).size() == 200);
  CHECK(for_the_log(std::string(199, 'x') + "\xc3\xa9 and more") == std::string(199, 'x'));
}

TEST_CASE("what is served has its upstream's name before its own, with a mark where that is taken, and nothing twice") {
  ServedNames names({"a", "b"}, {"a_taken"});
  CHECK(names.take("a", "x") == "a_x");
  CHECK(names.take("b", "x") == "b_x");
  CHECK(names.take("a", "taken") == marked_name("a", "taken"));
  CHECK(names.take("a", "x") == marked_name("a", "x"));
  CHECK_FALSE(names.take("a", "x"));
  CHECK(names.take("a", "x.y") == marked_name("a", "x.y"));
}

TEST_CASE("a name that could be another upstream's has a mark, whichever comes first") {
  ServedNames names({"kitchen", "kitchen_x"}, {});
  CHECK(names.take("kitchen", "x_y") == marked_name("kitchen", "x_y"));
  CHECK(names.take("kitchen_x", "y") == "kitchen_x_y");
  CHECK(names.take("kitchen", "x") == "kitchen_x");
}

TEST_CASE("many thousand names are all served, each its own") {
  constexpr int kMany = 50'000;
  ServedNames names({"a", "b"}, {});
  std::set<std::string> served;
  for (int each = 0; each < kMany; ++each) {
    for (const char* const upstream : {"a", "b"}) served.insert(names.take(upstream, std::to_string(each)).value());
  }
  CHECK(served.size() == 2 * kMany);
}

TEST_CASE("a result of the protocol's types is a tool's") {
  CHECK(is_tool_result(Json::parse(R"({"content":[]})")));
  CHECK(
      is_tool_result(Json::parse(R"({"content":[{"type":"text","text":"a"},{"type":"image","data":"","mimeType":"a/b"},
    {"type":"resource_link","uri":"a:b","name":"n"},{"type":"resource","resource":{"uri":"a:b","text":""}},{"type":"new"}],
    "structuredContent":{},"isError":true,"resultType":"complete"})")));
}

TEST_CASE("what is no tool's result is known") {
  const auto* const text = GENERATE(
      R"(5)", R"([])", R"({})", R"({"content":{}})", R"({"content":[5]})", R"({"content":[{}]})",
      R"({"content":[{"type":5}]})", R"({"content":[{"type":"text"}]})", R"({"content":[{"type":"text","text":5}]})",
      R"({"content":[{"type":"resource_link","uri":5}]})", R"({"content":[{"type":"image","data":"","mimeType":5}]})",
      R"({"content":[{"type":"resource","resource":5}]})",
      R"({"content":[{"type":"resource","resource":{"uri":"a","text":5}}]})",
      R"({"content":[],"structuredContent":[]})", R"({"content":[],"isError":"no"})",
      R"({"content":[],"resultType":"input_required"})");
  INFO(text);
  CHECK_FALSE(is_tool_result(Json::parse(text)));
}

TEST_CASE("the protocol's codes and unknown ones become an internal error, the others stay") {
  for (const int code : {-32700, -32600, -32601, -32602, -32603, 4001, 4009})
    CHECK(static_cast<int>(passed_on_code(code)) == code);
  for (const int code : {-32020, -32022, -32099, -32000, -32604, 0, 1, 4000, 4010}) {
    CHECK(passed_on_code(code) == ErrorCode::kInternalError);
  }
}

}  // namespace rkllm_mcp
