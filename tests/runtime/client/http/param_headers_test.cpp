#include "client/http/param_headers.hpp"

#include "support/catch.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <utility>

using namespace rkllm_mcp::client;
using rkllm_mcp::Json;

namespace {

using HeaderFields = std::multimap<std::string, std::string>;

Json listed(const std::string& name, Json properties) {
  return {{"name", name}, {"inputSchema", {{"type", "object"}, {"properties", std::move(properties)}}}};
}

Json annotated(const Json& header) { return {{"type", "string"}, {"x-mcp-header", header}}; }

std::string answer_listing(const Json& tools) {
  return Json{{"jsonrpc", "2.0"}, {"id", 1}, {"result", {{"tools", tools}}}}.dump();
}

// What is repeated of a call of a tool with these properties.
HeaderFields fields_of(const Json& properties, const Json& arguments) {
  ParamHeaders headers;
  headers.learn(answer_listing(Json::array({listed("t", properties)})));
  return headers.headers_of(
      Json{{"method", "tools/call"}, {"params", {{"name", "t"}, {"arguments", arguments}}}}.dump());
}

}  // namespace

TEST_CASE("arguments that the tool's schema wants repeated are, as text, the others are not") {
  const Json properties{{"region", annotated("Region")},
                        {"count", annotated("Count")},
                        {"share", annotated("Share")},
                        {"is_urgent", annotated("Urgent")},
                        {"words", {{"type", "string"}}}};
  CHECK(fields_of(properties,
                  {{"region", "eu"}, {"count", -3}, {"share", 1.5}, {"is_urgent", true}, {"words", "hello"}}) ==
        HeaderFields{{"Mcp-Param-Region", "eu"},
                     {"Mcp-Param-Count", "-3"},
                     {"Mcp-Param-Share", "1.5"},
                     {"Mcp-Param-Urgent", "true"}});
}

TEST_CASE("an argument that is not given, is null, or holds others is not repeated") {
  const Json properties{{"a", annotated("A")}};
  for (const Json& arguments : {Json::object(), Json{{"a", nullptr}}, Json{{"a", Json::array({1})}},
                                Json{{"a", Json::object()}}, Json(nullptr), Json("a"), Json::array({"a"})}) {
    CAPTURE(arguments.dump());
    CHECK(fields_of(properties, arguments).empty());
  }
}

TEST_CASE("a text that no header can carry is repeated in base64, an empty one as it is") {
  const Json properties{{"a", annotated("A")}};
  CHECK(fields_of(properties, {{"a", "gr\xC3\xBC\xC3\x9F"}}) == HeaderFields{{"Mcp-Param-A", "=?base64?Z3LDvMOf?="}});
  CHECK(fields_of(properties, {{"a", "x\r\nEvil: 1"}}) == HeaderFields{{"Mcp-Param-A", "=?base64?eA0KRXZpbDogMQ==?="}});
  CHECK(fields_of(properties, {{"a", ""}}) == HeaderFields{{"Mcp-Param-A", ""}});
}

TEST_CASE("properties are repeated at whatever depth, with their values there") {
  const Json inner{{"type", "object"}, {"properties", {{"city", annotated("City")}}}};
  const Json properties{{"address", {{"type", "object"}, {"properties", {{"at", inner}}}}}, {"city", {}}};
  CHECK(fields_of(properties, {{"address", {{"at", {{"city", "Graz"}}}}}, {"city", "Wien"}}) ==
        HeaderFields{{"Mcp-Param-City", "Graz"}});
  CHECK(fields_of(properties, {{"address", {{"city", "Graz"}}}}).empty());
}

TEST_CASE("an annotation that is no name of a header is none") {
  for (const Json& wrong : {Json(""), Json("a b"), Json("a\r\nEvil"), Json("a:"), Json("gr\xC3\xBC\xC3\x9F"), Json(7),
                            Json(nullptr), Json(true)}) {
    CAPTURE(wrong.dump());
    ParamHeaders headers;
    headers.learn(answer_listing(Json::array({listed("t", {{"a", annotated(wrong)}})})));
    CHECK_FALSE(headers.knows("t"));
    CHECK(fields_of({{"a", annotated(wrong)}, {"b", annotated("B")}}, {{"a", "1"}, {"b", "2"}}) ==
          HeaderFields{{"Mcp-Param-B", "2"}});
  }
}

TEST_CASE("only tools with annotations are known, as the last list has them") {
  ParamHeaders headers;
  headers.learn(answer_listing(Json::array({listed("a", {{"x", annotated("X")}}), listed("b", {{"x", {}}})})));
  CHECK(headers.knows("a"));
  CHECK_FALSE(headers.knows("b"));
  CHECK_FALSE(headers.knows(""));
  headers.learn(answer_listing(Json::array({listed("a", {{"x", {}}}), listed("b", {{"x", annotated("Y")}})})));
  CHECK_FALSE(headers.knows("a"));
  CHECK(headers.knows("b"));
  headers.learn(answer_listing(Json::array()));
  CHECK(headers.knows("b"));  // a page without it
  CHECK(headers.headers_of(R"({"params":{"name":"b","arguments":{"x":"1"}}})") == HeaderFields{{"Mcp-Param-Y", "1"}});
}

TEST_CASE("what is no answer to tools/list teaches nothing, and of what is one no more than is right") {
  ParamHeaders headers;
  const Json tool = listed("t", {{"x", annotated("X")}});
  for (const std::string& other :
       {std::string(), std::string("no JSON"), std::string("[]"), std::string("7"), std::string(R"({"result":7})"),
        std::string(R"({"result":{"tools":7}})"), std::string(R"({"result":{"tools":null}})"),
        std::string(R"({"error":{"code":1,"message":"no"}})"), Json{{"result", {{"prompts", {tool}}}}}.dump(),
        Json{{"params", {{"tools", {tool}}}}}.dump()}) {
    CAPTURE(other);
    headers.learn(other);
    CHECK_FALSE(headers.knows("t"));
  }
  Json nameless = tool;
  nameless.erase("name");
  headers.learn(answer_listing(Json::array({7, nullptr, Json::object(), nameless, Json{{"name", 7}}, tool})));
  CHECK(headers.knows("t"));
}

TEST_CASE("of what is no call of a known tool nothing is repeated") {
  ParamHeaders headers;
  headers.learn(answer_listing(Json::array({listed("t", {{"x", annotated("X")}})})));
  for (const char* const other :
       {"", "no JSON", "[]", R"({"params":7})", R"({"params":{}})", R"({"params":{"name":7,"arguments":{"x":"1"}}})",
        R"({"params":{"name":"other","arguments":{"x":"1"}}})", R"({"name":"t","arguments":{"x":"1"}})"}) {
    CAPTURE(other);
    CHECK(headers.headers_of(other).empty());
  }
}

TEST_CASE("so many tools are remembered and no more, of which each may change") {
  ParamHeaders headers;
  const auto name_of = [](std::size_t number) { return "t" + std::to_string(number); };
  Json tools = Json::array();
  for (std::size_t i = 0; i <= ParamHeaders::kMostTools; ++i)
    tools.push_back(listed(name_of(i), {{"x", annotated("X")}}));
  headers.learn(answer_listing(tools));
  CHECK(headers.knows(name_of(ParamHeaders::kMostTools - 1)));
  CHECK_FALSE(headers.knows(name_of(ParamHeaders::kMostTools)));
  headers.learn(answer_listing(Json::array({listed(name_of(0), {{"x", annotated("New")}})})));
  CHECK(headers.headers_of(R"({"params":{"name":"t0","arguments":{"x":"1"}}})") ==
        HeaderFields{{"Mcp-Param-New", "1"}});
}
