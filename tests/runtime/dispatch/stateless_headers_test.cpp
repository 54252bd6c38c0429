#include "dispatch/stateless_headers.hpp"

#include "jsonrpc/unread.hpp"
#include "mcp/protocol/agreed_names.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <string>

using namespace rkllm_mcp;

namespace {

mcp::Catalogue catalogue_with_regions() {
  mcp::Catalogue catalogue;
  mcp::Tool tool;
  tool.name = "t";
  tool.input_schema = Json::parse(R"({"type":"object","properties":{
    "region":{"type":"string","x-mcp-header":"Region"},
    "nested":{"type":"object","properties":{"count":{"type":"integer","x-mcp-header":"Count"}}},
    "dry":{"type":"boolean","x-mcp-header":"Dry"}}})");
  catalogue.add(std::move(tool));
  return catalogue;
}

Request request_of(const std::string& method, Json params) {
  params["_meta"] = {{mcp::kMetaRevision, "2026-07-28"}};
  return {"1", method, std::move(params)};
}

// The error's code, 0 if the headers are right.
int judged(const http::Headers& headers, const Request& request) {
  static const mcp::Catalogue kCatalogue = catalogue_with_regions();
  try {
    check_revision_header(headers, request);
    check_stateless_headers(headers, request, kCatalogue);
    return 0;
  } catch (const RpcError& error) {
    return static_cast<int>(error.code());
  }
}

http::Headers with(http::Headers::Field more) {
  return {{"MCP-Protocol-Version", "2026-07-28"}, {"mcp-method", " tools/call "}, {"Mcp-Name", "t"}, std::move(more)};
}

int judged_arguments(const Json& arguments, http::Headers::Field header) {
  return judged(with(std::move(header)), request_of("tools/call", {{"name", "t"}, {"arguments", arguments}}));
}

}  // namespace

TEST_CASE("headers must repeat revision, method and name, whatever the case of their own names") {
  const Request request = request_of("tools/call", {{"name", "t"}});
  CHECK(judged(with({"X", "y"}), request) == 0);
  CHECK(judged({{"Mcp-Method", "tools/call"}, {"Mcp-Name", "t"}}, request) == -32020);
  CHECK(judged({{"MCP-Protocol-Version", "2025-11-25"}, {"Mcp-Method", "tools/call"}, {"Mcp-Name", "t"}}, request) ==
        -32020);
  CHECK(judged({{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Name", "t"}}, request) == -32020);
  CHECK(judged({{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "Tools/Call"}, {"Mcp-Name", "t"}}, request) ==
        -32020);
  CHECK(judged({{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/call"}}, request) == -32020);
  CHECK(judged({{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/list"}},
               request_of("tools/list", Json::object())) == 0);
  CHECK(judged({{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/list"}},
               {"1", "tools/list", Json::object()}) == -32602);
}

TEST_CASE("names may be written in base64, and only rightly so") {
  CHECK(decoded_header("plain") == "plain");
  CHECK(decoded_header("=?base64?dA==?=") == "t");
  CHECK(decoded_header("=?base64?"
                       "?=") == "");
  CHECK_FALSE(decoded_header("=?base64?dA=?="));
  CHECK_FALSE(decoded_header("=?base64?d-A=?="));
  CHECK(decoded_header("=?base64?dA==") == "=?base64?dA==");
  CHECK(decoded_header("=?BASE64?dA==?=") == "=?BASE64?dA==?=");
}

TEST_CASE("annotated parameters are repeated by headers where they have a value") {
  CHECK(judged_arguments({{"region", "eu"}}, {"Mcp-Param-Region", "eu"}) == 0);
  CHECK(judged_arguments({{"region", "eu"}}, {"MCP-PARAM-REGION", "=?base64?ZXU=?="}) == 0);
  CHECK(judged_arguments({{"region", "eu"}}, {"Mcp-Param-Region", "us"}) == -32020);
  CHECK(judged_arguments({{"region", "eu"}}, {"X", "y"}) == -32020);
  CHECK(judged_arguments({{"region", nullptr}}, {"X", "y"}) == 0);
  CHECK(judged_arguments(Json::object(), {"Mcp-Param-Unknown", "z"}) == 0);
  CHECK(judged_arguments({{"nested", {{"count", 7}}}}, {"Mcp-Param-Count", "7.0"}) == 0);
  CHECK(judged_arguments({{"nested", {{"count", 7}}}}, {"Mcp-Param-Count", "8"}) == -32020);
  CHECK(judged_arguments({{"dry", true}}, {"Mcp-Param-Dry", "true"}) == 0);
  CHECK(judged_arguments({{"dry", true}}, {"Mcp-Param-Dry", "1"}) == -32020);
}

TEST_CASE("arguments that are not read yet are read where their tool wants some of them repeated") {
  const Json unread = unread_part(R"({"region":"eu","nested":{"count":7}})");
  CHECK(judged_arguments(unread, {"Mcp-Param-Region", "eu"}) == -32020);  // Count is missing
  CHECK(judged_arguments(unread_part(R"({"region":"eu"})"), {"Mcp-Param-Region", "eu"}) == 0);
  CHECK(judged_arguments(unread_part(R"({"region":"eu"})"), {"Mcp-Param-Region", "us"}) == -32020);
  const Json nested{{"nested", unread_part(R"({"count":7})")}};
  CHECK(judged_arguments(nested, {"Mcp-Param-Count", "7"}) == 0);
  CHECK(judged_arguments(nested, {"Mcp-Param-Count", "8"}) == -32020);
  // A part for which nothing is to be repeated stays as it is, however long.
  CHECK(judged_arguments({{"other", unread_part("[1]")}}, {"X", "y"}) == 0);
  std::string many = R"({"region":"eu","numbers":[0)";
  for (int at = 0; at < 600'000; ++at) many += ",0";
  CHECK(judged_arguments(unread_part(many + "]}"), {"Mcp-Param-Region", "eu"}) == -32020);
}
