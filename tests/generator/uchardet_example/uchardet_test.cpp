// uchardet as an MCP server, spoken to as a host would: the header is somebody else's, the tool and the protocol are
// ours.
#include "support/catch.hpp"
#include "support/process.hpp"

#include "bindgen_json.hpp"
#include "overlay/schema_check.hpp"
#include "read/header.hpp"

#include <rkllm_mcp/base64.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

using bindgen::Json;
using rkllm_mcp::test::has_text;
using rkllm_mcp::test::Process;

namespace {

// A sentence of Russian in Windows-1251.
constexpr std::string_view kRussian =
    "\xCF\xF0\xE8\xE2\xE5\xF2, \xFD\xF2\xEE \xEF\xF0\xEE\xF1\xF2\xEE\xE9 \xF2\xE5\xEA\xF1\xF2 \xED\xE0 "
    "\xF0\xF3\xF1\xF1\xEA\xEE\xEC \xFF\xE7\xFB\xEA\xE5.";

Json packed(std::string_view text) {
  return {{"base64", rkllm_mcp::encode_base64(std::as_bytes(std::span(text)))}, {"dtype", "uint8"}};
}

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
  // The whole result of a tool, after a look at its schema.
  Json tool(const std::string& name, const Json& arguments = Json::object()) {
    Json result = request("tools/call", {{"name", name}, {"arguments", arguments}})["result"];
    const Json tools = request("tools/list")["result"]["tools"];
    const auto found = std::find_if(tools.begin(), tools.end(), [&](const Json& each) { return each["name"] == name; });
    if (found == tools.end()) throw std::runtime_error("no tool " + name);
    // The listed inputSchema shows less than is taken (bytes in base64) and less than is checked (their range).
    if (!result.value("isError", false))
      CHECK(bindgen::violations((*found)["outputSchema"], result["structuredContent"]).empty());
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

TEST_CASE("every function of the header is a tool, with every parameter, and there are no others") {
  Host host;
  CHECK(host.initialized["serverInfo"]["name"] == "uchardet");
  std::map<std::string, std::set<std::string>> declared;
  const bindgen::c::Header header = bindgen::read_header(HEADER);
  for (const auto* function : bindgen::c::all<bindgen::c::Function>(header)) {
    for (const auto& param : function->params) declared[function->name].insert(param.name);
    declared[function->name];
  }
  CHECK(declared.size() == 6);
  std::map<std::string, std::set<std::string>> served;
  const Json tools = host.request("tools/list")["result"]["tools"];
  for (const Json& tool : tools) {
    std::set<std::string>& params = served[tool["name"]];
    for (const auto& [name, schema] : tool["inputSchema"]["properties"].items()) params.insert(name);
  }
  CHECK(served == declared);
}

TEST_CASE("the encoding of a text is detected, and a detector begins anew and ends") {
  Host host;
  CHECK(host.value("uchardet_new") == Json{{"handle", "detector-1"}});
  CHECK(host.value("uchardet_get_charset") == Json{{"value", ""}});
  CHECK(host.value("uchardet_handle_data", {{"data", packed(kRussian)}}) == Json{{"status", 0}});
  CHECK(host.value("uchardet_data_end") == Json::object());
  CHECK(host.value("uchardet_get_charset") == Json{{"value", "WINDOWS-1251"}});
  CHECK(host.value("uchardet_reset") == Json::object());
  CHECK(host.value("uchardet_handle_data", {{"data", {0xE2, 0x82}}, {"len", 2}}) == Json{{"status", 0}});
  CHECK(host.value("uchardet_handle_data", {{"data", {0xAC}}}) == Json{{"status", 0}});
  host.value("uchardet_data_end");
  CHECK(host.value("uchardet_get_charset") == Json{{"value", "UTF-8"}});
  CHECK(host.value("uchardet_delete") == Json::object());
  CHECK(host.request("uchardet_get_charset")["error"]["code"] == 4002);
}

TEST_CASE("two detectors are told apart by their handles") {
  Host host;
  host.value("uchardet_new");
  CHECK(host.value("uchardet_new") == Json{{"handle", "detector-2"}});
  host.value("uchardet_handle_data", {{"ud", "detector-1"}, {"data", packed(kRussian)}});
  host.value("uchardet_handle_data", {{"ud", "detector-2"}, {"data", packed("plain")}});
  for (const char* detector : {"detector-1", "detector-2"}) host.value("uchardet_data_end", {{"ud", detector}});
  CHECK(host.value("uchardet_get_charset", {{"ud", "detector-1"}}) == Json{{"value", "WINDOWS-1251"}});
  CHECK(host.value("uchardet_get_charset", {{"ud", "detector-2"}}) == Json{{"value", "ASCII"}});
  CHECK(host.request("uchardet_reset")["error"]["data"]["handles"] == Json{"detector-1", "detector-2"});
}

TEST_CASE("bad arguments never reach the library, and the complaint says where they are bad") {
  Host host;
  host.value("uchardet_new");
  const auto complaint = [&](const Json& arguments) {
    return host.tool("uchardet_handle_data", arguments)["content"][0]["text"].get<std::string>();
  };
  CHECK_THAT(complaint({{"data", {1, 256}}}), has_text("params.data[1]"));
  CHECK_THAT(complaint({{"data", "text"}}), has_text("params.data"));
  CHECK_THAT(complaint({{"data", {{"base64", "?"}, {"dtype", "uint8"}}}}), has_text("params.data.base64"));
  CHECK_THAT(complaint({{"data", Json::array()}}), has_text("params.data"));
  CHECK_THAT(complaint(Json::object()), has_text("params.data"));
  CHECK(host.request("uchardet_handle_data", {{"data", {1, 2}}, {"len", 3}})["error"]["code"] == -32602);
}

TEST_CASE("the type of the handle is known by name") {
  Host host;
  CHECK(host.request("uchardet_t")["result"]["kind"] == "handle");
}

TEST_CASE("the server ends with its input") {
  Host host;
  CHECK(host.end() == 0);
}
