// What may be passed on as the answer of a tool.
#include "upstreams/upstream_answer.hpp"

#include "support/catch.hpp"

namespace rkllm_mcp {

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
