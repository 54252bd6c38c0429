#include "mcp/tools/arguments.hpp"

#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;

namespace {

const Json kSchema = Json::parse(R"({"type":"object","required":["text"],"properties":{
    "text": {"type":"string","minLength":2,"maxLength":4},
    "kind": {"type":"string","enum":["one","two"]},
    "count": {"type":"integer","minimum":-1,"maximum":10,"default":3},
    "share": {"type":"number","minimum":0,"maximum":1},
    "exact": {"type":"boolean"}}})");

Json checked(const std::string& arguments) { return mcp::checked_arguments(kSchema, Json::parse(arguments)); }

}  // namespace

TEST_CASE("arguments come with defaults, without nulls, and without what the schema does not know") {
  CHECK(checked(R"({"text":"ab"})") == Json{{"text", "ab"}, {"count", 3}});
  CHECK(checked(R"({"text":"ab","kind":null,"other":1,"count":7})") == Json{{"text", "ab"}, {"count", 7}});
  CHECK(checked(R"({"text":"ab","share":1,"exact":false,"kind":"two"})") ==
        Json{{"text", "ab"}, {"kind", "two"}, {"count", 3}, {"share", 1}, {"exact", false}});
}

TEST_CASE("a whole number is an integer however it is written, and a length is of characters") {
  CHECK(checked(R"({"text":"ab","count":5.0})")["count"].is_number_integer());
  CHECK(checked(R"({"text":"ab","count":1e1})")["count"] == 10);
  CHECK(checked(R"({"text":"răng"})")["text"] == "răng");  // four characters of five bytes
}

TEST_CASE("arguments that the schema does not allow are refused with their place") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[]", "params.arguments: expected object"},
      {"null", "params.arguments: expected object"},
      {"{}", "params.arguments.text: missing"},
      {R"({"text":null})", "params.arguments.text: missing"},
      {R"({"text":5})", "params.arguments.text: expected string"},
      {R"({"text":"a"})", "params.arguments.text: is too short"},
      {R"({"text":"abcde"})", "params.arguments.text: is longer than 4 characters"},
      {R"({"text":"ab","kind":"three"})", R"(params.arguments.kind: expected one of ["one","two"])"},
      {R"({"text":"ab","count":"3"})", "params.arguments.count: expected integer"},
      {R"({"text":"ab","count":3.5})", "params.arguments.count: expected integer"},
      {R"({"text":"ab","count":1e300})", "params.arguments.count: expected integer"},
      {R"({"text":"ab","count":-2})", "params.arguments.count: is less than -1"},
      {R"({"text":"ab","count":11})", "params.arguments.count: is more than 10"},
      {R"({"text":"ab","count":18446744073709551615})", "params.arguments.count: is more than 10"},
      {R"({"text":"ab","share":true})", "params.arguments.share: expected number"},
      {R"({"text":"ab","share":1.01})", "params.arguments.share: is more than 1"},
      {R"({"text":"ab","exact":"yes"})", "params.arguments.exact: expected true or false"},
      {R"({"text":"ab","exact":1})", "params.arguments.exact: expected true or false"},
  };
  for (const auto& [arguments, complaint] : cases) {
    INFO(arguments);
    CHECK_THROWS_WITH(checked(arguments), complaint);
  }
}
