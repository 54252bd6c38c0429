// cJSON as an MCP server, spoken to as a host would: the header is somebody else's, the tool and the protocol are ours.
#include "support/catch.hpp"
#include "support/process.hpp"

#include "json.hpp"
#include "json_schema.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

using bindgen::Json;
using rkllm_mcp::test::Process;

namespace {

Process::Options server() {
  Process::Options options;
  options.args = {SERVER};
  return options;
}

class Host {
 public:
  Host() : process_(server()) {
    initialized = request("initialize", {{"protocolVersion", "2025-06-18"},
                                         {"capabilities", Json::object()},
                                         {"clientInfo", {{"name", "test"}, {"version", "1"}}}})["result"];
    process_.write(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
                   "\n");
  }

  Json request(const std::string& method, const Json& params = Json::object()) {
    process_.write(Json{{"jsonrpc", "2.0"}, {"id", ++id_}, {"method", method}, {"params", params}}.dump() + "\n");
    const auto line = process_.read_line();
    if (!line) throw std::runtime_error("no answer to " + method + "; the server says:\n" + process_.error_text());
    return Json::parse(*line);
  }
  // The whole result of a tool, after a look at its schemas.
  Json tool(const std::string& name, const Json& arguments = Json::object()) {
    const Json result = request("tools/call", {{"name", name}, {"arguments", arguments}})["result"];
    const Json tools = request("tools/list")["result"]["tools"];
    const auto found = std::find_if(tools.begin(), tools.end(), [&](const Json& each) { return each["name"] == name; });
    if (found == tools.end()) throw std::runtime_error("no tool " + name);
    const bool is_good = bindgen::violations((*found)["inputSchema"], arguments).empty();
    CHECK(is_good != result.value("isError", false));
    if (is_good) CHECK(bindgen::violations((*found)["outputSchema"], result["structuredContent"]).empty());
    return result;
  }
  Json value(const std::string& name, const Json& arguments = Json::object()) {
    return tool(name, arguments)["structuredContent"];
  }

  int end() {
    process_.close_input();
    return process_.wait().value_or(-1);
  }

  Json initialized;

 private:
  Process process_;
  int id_ = 0;
};

}  // namespace

TEST_CASE("the tools are the functions that the overlay names, and no others") {
  Host host;
  CHECK(host.initialized["serverInfo"]["name"] == "cjson");
  std::vector<std::string> names;
  const Json tools = host.request("tools/list")["result"]["tools"];
  for (const Json& tool : tools) names.push_back(tool["name"]);
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"cJSON_AddStringToObject", "cJSON_CreateIntArray", "cJSON_Delete",
                                          "cJSON_DeleteItemFromObject", "cJSON_GetArraySize", "cJSON_HasObjectItem",
                                          "cJSON_Parse", "cJSON_PrintUnformatted", "cJSON_Version"});
}

TEST_CASE("a document is parsed, asked, changed, printed and deleted") {
  Host host;
  CHECK(host.value("cJSON_Parse", {{"value", R"({"a":1,"b":2})"}}) == Json{{"handle", "document-1"}});
  CHECK(host.value("cJSON_GetArraySize") == Json{{"value", 2}});
  CHECK(host.value("cJSON_HasObjectItem", {{"string", "c"}}) == Json{{"found", false}, {"status", 0}});
  host.tool("cJSON_AddStringToObject", {{"name", "c"}, {"string", "d"}});
  host.tool("cJSON_DeleteItemFromObject", {{"string", "a"}});
  CHECK(host.value("cJSON_HasObjectItem", {{"string", "c"}}) == Json{{"found", true}, {"status", 1}});
  CHECK(host.value("cJSON_PrintUnformatted") == Json{{"value", R"({"b":2,"c":"d"})"}});
  host.tool("cJSON_Delete");
  CHECK(host.request("cJSON_GetArraySize")["error"]["code"] == 4002);
}

TEST_CASE("an array comes with its count, and two documents are told apart by their handles") {
  Host host;
  CHECK(host.value("cJSON_CreateIntArray", {{"numbers", {1, 2, 3}}}) == Json{{"handle", "document-1"}});
  CHECK(host.value("cJSON_Parse", {{"value", "[]"}}) == Json{{"handle", "document-2"}});
  CHECK(host.value("cJSON_PrintUnformatted", {{"item", "document-1"}}) == Json{{"value", "[1,2,3]"}});
  CHECK(host.value("cJSON_GetArraySize", {{"array", "document-2"}}) == Json{{"value", 0}});
  CHECK(host.request("cJSON_GetArraySize")["error"]["data"]["handles"] == Json{"document-1", "document-2"});
}

TEST_CASE("what cJSON cannot parse is a refusal, and bad arguments never reach it") {
  Host host;
  const Json refused = host.request("tools/call", {{"name", "cJSON_Parse"}, {"arguments", {{"value", "{"}}}})["result"];
  CHECK(refused["isError"] == true);
  const Json wrong = host.tool("cJSON_CreateIntArray", {{"numbers", {1, "two"}}});
  CHECK(wrong["content"][0]["text"].get<std::string>().find("numbers[1]") != std::string::npos);
}

TEST_CASE("constants of the header are known by name") {
  Host host;
  CHECK(host.request("cJSON_Array")["result"]["value"] == 32);
}

TEST_CASE("the server ends with its input") {
  Host host;
  CHECK(host.end() == 0);
}
