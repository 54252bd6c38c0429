// Messages that take long to read: nobody waits for them but their sender.
#include "requests.hpp"
#include "support/catch.hpp"
#include "support/client_frames.hpp"
#include "support/http_client.hpp"
#include "support/live_server.hpp"
#include "support/raw_socket.hpp"
#include "support/rpc_client.hpp"

#include <rkllm_mcp/json.hpp>

#include <signal.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::test {
namespace {

constexpr std::size_t kLongText = 8'300'000;
constexpr std::array kTransports{Transport::kTcp, Transport::kUnix, Transport::kHttp, Transport::kWebSocket};

// Doubles what there is: test code is not optimised.
std::string repeated(std::string_view part, std::size_t bytes) {
  std::string text(part);
  text.reserve(2 * bytes + part.size());
  while (text.size() < bytes) text += text;
  return text.substr(0, bytes - bytes % part.size());
}

std::string request(std::string_view method, const std::string& params) {
  return R"({"jsonrpc":"2.0","id":7,"method":")" + std::string(method) + R"(","params":)" + params + "}";
}

// The answer as text, which must not be longer than an error has to be.
Json short_answer(LiveServer& server, Transport transport, const std::string& message) {
  const auto connection = server.connect(transport);
  connection->send(message);
  const auto answer = connection->receive(std::chrono::steady_clock::now() + RpcClient::kPatience);
  REQUIRE(answer);
  CHECK(answer->size() < 1000);
  return Json::parse(*answer);
}

}  // namespace

TEST_CASE("millions of values in one message, or a broken string of megabytes, are answered beside the loop") {
  LiveServer server;
  const std::string values = "[" + repeated("[],", kLongText) + "[]]";
  const std::string in_params = request("rkllm_run", R"({"input":)" + values + "}");
  const std::string broken = R"({"jsonrpc":"2.0","id":1,"method":")" + repeated("x", kLongText) + "\x01\"}";
  const std::string members = "{" + repeated(R"("a":1,)", kLongText) + R"("b":1})";
  for (const Transport transport : kTransports) {
    INFO(name_of(transport));
    CHECK(short_answer(server, transport, values)["error"]["code"] == -32600);
    if (transport != Transport::kTcp) continue;
    const Json misplaced = short_answer(server, transport, in_params);
    CHECK(misplaced["id"] == 7);
    CHECK(misplaced["error"]["code"] == 4002);  // no model is loaded
    const Json refused = short_answer(server, transport, broken);
    CHECK(refused["error"]["code"] == -32700);
    CHECK(refused["error"]["message"].get<std::string>().find(std::string(61, 'x')) == std::string::npos);
    CHECK(short_answer(server, transport, members)["error"]["code"] == -32600);
  }
  CHECK(server.health()["status"] == "healthy");
}

// Debug builds end when a callback takes long, so that the server's health tells.
TEST_CASE("chat requests of millions of values are refused beside the loop, also where the memory is short") {
  const Json models{{"m", {{"param", {{"model_path", shipped_model("fast")}}}, {"template", "qwen3"}}}};
  LiveServer::Options options;
  options.set = {"models=" + models.dump()};
  LiveServer server(options);
  const std::string values = "[" + repeated("[],", 8'000'000) + "[]]";
  const std::string messages =
      "[" + repeated(R"({"role":"user","content":"x"},)", 8'000'000) + R"({"role":"user","content":"x"}])";
  const std::string one = R"([{"role":"user","content":"Hello"}])";
  const std::string tool =
      R"([{"type":"function","function":{"name":"f","parameters":{"type":"object","x":)" + values + "}}}]";
  const std::vector<std::string> bodies{R"({"model":"m","messages":)" + one + R"(,"metadata":)" + values + "}",
                                        R"({"model":"nobody's","messages":)" + one + R"(,"metadata":)" + values + "}",
                                        R"({"model":"m","messages":)" + one + R"(,"tools":)" + tool + "}",
                                        R"({"model":"m","messages":)" + messages + "}"};
  HttpClient client(server.endpoint(Transport::kHttp));
  for (const std::string& body : bodies) {
    INFO(body.substr(0, 100));
    const HttpAnswer answer = client.post("/v1/chat/completions", body);
    CHECK(answer.status == 400);
    CHECK(answer.body.find("more than 32768 values") != std::string::npos);
  }
  CHECK(server.health()["status"] == "healthy");
}

TEST_CASE("arguments of millions of values, and prompts of megabytes, hold nobody up") {
  LiveServer server;
  RpcClient client(server.connect(Transport::kTcp));
  const std::string values = "[" + repeated("[],", 8'000'000) + "[]]";
  const std::string of_tool = R"({"name":"calculate","arguments":{"expression":"1+1","x":)" + values + "}}";
  client.send_text(request("tool-server/tools/call", of_tool));
  CHECK(client.answer(7)["error"]["message"] == "invalid request: more than 32768 values");
  client.send_text(request("tools/call", of_tool));
  CHECK(client.answer(7)["error"]["message"] == "invalid request: more than 32768 values");
  client.send_text(request("memory-server/memory/import", R"({"lines":)" + values + "}"));
  CHECK(client.answer(7)["error"]["message"] == "invalid request: more than 32768 values");
  client.send_text(
      request("prompts/get", R"({"name":"summarize","arguments":{"text":")" + repeated("x", 7'000'000) + R"("}})"));
  CHECK(client.answer(7)["error"]["data"]["path"] == "params.arguments.text");
  CHECK(server.health()["status"] == "healthy");
}

TEST_CASE("a batch of whatever takes long, and many datagrams of that kind, leave the loop to others") {
  LiveServer server;
  RpcClient client(server.connect(Transport::kTcp));
  client.initialize("2025-03-26");
  constexpr int kRequests = 256;
  Json batch = Json::array();
  constexpr int kInBatch = 120;  // some megabytes of answers
  for (int id = 1000; id < 1000 + kInBatch; ++id) {
    batch.push_back(
        {{"jsonrpc", "2.0"}, {"id", id}, {"method", "resources/read"}, {"params", {{"uri", "rkllm://api"}}}});
  }
  client.send_text(batch.dump());
  const int behind = client.send("ping");
  const Json answers = client.receive_or_throw();
  REQUIRE(answers.is_array());
  CHECK(answers.size() == kInBatch);
  CHECK(client.receive_or_throw()["id"] == behind);  // nothing overtakes a batch

  RpcClient datagrams(server.connect(Transport::kUdp));
  for (int i = 0; i < kRequests; ++i) datagrams.send("resources/read", {{"uri", "rkllm://api/functions/rkllm_run"}});
  CHECK(client.call("ping").contains("result"));
  if (RKLLM_MCP_SANITIZED) return;  // which makes everything take several times as long
  server.process().signal(SIGTERM);
  CHECK(server.process().wait() == 0);  // then all of its log is here
  CHECK_THAT(server.process().error_text(), !has_text("a callback of the event loop took"));
}

TEST_CASE("clients that close in the middle of a long line do not silence the server") {
  LiveServer server;
  const std::string most = R"({"jsonrpc":"2.0","id":1,"method":"x","params":[)" + repeated("[],", kLongText);
  std::vector<std::unique_ptr<RawSocket>> crowd;
  // Under a sanitizer the one thread that parses needs seconds for each message.
  constexpr int kCrowd = RKLLM_MCP_SANITIZED ? 4 : 20;
  for (int i = 0; i < kCrowd; ++i) crowd.push_back(std::make_unique<RawSocket>(server.port(Transport::kTcp)));
  for (const auto& each : crowd) each->send(most);
  for (const auto& each : crowd) each->finish_sending();
  CHECK(server.health()["status"] == "healthy");
  for (const auto& each : crowd) CHECK(each->receive_until("\n").find("-32700") != std::string::npos);
}

TEST_CASE("a long message is not overtaken by the one behind it") {
  LiveServer server;
  RawSocket client(server.port(Transport::kTcp));
  client.send(request("x", "[" + repeated("[],", kLongText) + "1]") + "\n" + ping(8) + "\n" + ping(9));
  client.finish_sending();
  const std::string answers = client.receive_rest();
  CHECK(answers.find("\"id\":7") < answers.find("\"id\":8"));
  CHECK(answers.find("\"id\":8") < answers.find("\"id\":9"));
  CHECK(answers.find("\"id\":9") != std::string::npos);
}

TEST_CASE("what is wrong in the middle of a long message is found when the call is made") {
  LiveServer server;
  RpcClient client(server.connect(Transport::kTcp));
  const std::string handle = client.init(shipped_model("fast"));
  const std::string before = R"({"rkllm_input":{"input_type":"RKLLM_INPUT_TOKEN","token_input":{"input_ids":[)";
  const std::string bad = request("rkllm_run", before + repeated("1,", 1'000'000) + R"("x",2]}}})");
  client.send_text(bad);
  CHECK(client.answer(7)["error"]["data"]["path"] == "params.rkllm_input.token_input.input_ids[500000]");
  client.send_text(request("rkllm_run", before + repeated("1,", 1'000'000) + R"({"a":1,"a":2}]}}})"));
  const Json twice = client.answer(7);
  CHECK(twice["error"]["message"] == "invalid request: member \"a\" occurs twice in one object");
  CHECK(client.call("rkllm_is_running")["result"]["running"] == false);
}

TEST_CASE("errors quote no more than sixty bytes of what they complain of") {
  LiveServer server;
  RpcClient(server.connect(Transport::kTcp)).init(shipped_model("fast"));
  const std::string name = "\"" + std::string(1'000'000, 'y') + "\"";
  const std::vector<std::string> complaints{
      R"({"jsonrpc":"2.0","id":7,"method":)" + name + "}",
      request("rkllm_run", R"({"handle":)" + name + "}"),
      request("rkllm_run", R"({)" + name + ":1}"),
      request("rkllm_run", R"({"rkllm_input":{"input_type":)" + name + "}}"),
      request("rkllm_run", R"({"rkllm_input":{"input_type":"RKLLM_INPUT_PROMPT","prompt_input":"x",)" + name + ":1}}"),
      request("rkllm_run", R"({"rkllm_input":{)" + name + ":1," + name + ":2}}"),
      request("rkllm_init", R"({"param":{"model_path":)" + name + "}}"),
      request("poll", R"({)" + name + ":1}"),
      request("poll", R"({"stream_id":)" + name + "}"),
      request("tools/call", R"({"name":)" + name + "}"),
      request("tools/call", R"({"name":"rkllm_run","arguments":{"handle":)" + name + "}}"),
      request("prompts/get", R"({"name":)" + name + "}"),
      request("resources/read", R"({"uri":)" + name + "}"),
      request("logging/setLevel", R"({"level":)" + name + "}"),
      request("completion/complete",
              R"({"ref":{"type":"ref/prompt","name":)" + name + R"(},"argument":{"name":"x","value":"y"}})"),
      request("tools/list", R"({"cursor":)" + name + "}"),
      request("initialize", R"({"protocolVersion":)" + name + "}"),
      request("x", R"({"_meta":{"io.modelcontextprotocol/protocolVersion":)" + name + "}}")};
  for (const auto& complaint : complaints) {
    INFO(complaint.substr(0, 80));
    const auto connection = server.connect(Transport::kTcp);
    connection->send(complaint);
    const auto answer = connection->receive(std::chrono::steady_clock::now() + RpcClient::kPatience);
    REQUIRE(answer);
    CHECK(answer->find(std::string(61, 'y')) == std::string::npos);
  }
}

}  // namespace rkllm_mcp::test
