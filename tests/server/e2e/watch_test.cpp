// What the server tells of itself while it works: metrics, and one log line for each call.
#include "support/catch.hpp"
#include "support/http_client.hpp"
#include "support/lines.hpp"
#include "support/live_server.hpp"
#include "support/rpc_client.hpp"

#include <sstream>
#include <string>

namespace rkllm_mcp::test {
namespace {

constexpr const char* kSecret = "@n=7 a prompt that is nobody's business";

}  // namespace

TEST_CASE("GET /metrics counts calls by outcome, tokens, and what is open") {
  LiveServer server;
  RpcClient client(server.connect(Transport::kTcp));
  const std::string handle = client.init(shipped_model("fast"));
  client.stream(client.run_async(handle, "@n=7"));
  client.call("rkllm_is_running", {{"handle", "llm-77"}});
  const auto answer = HttpClient(server.endpoint(Transport::kHttp)).get("/metrics");
  CHECK(answer.status == 200);
  INFO(answer.body);
  CHECK(has_line(answer.body, R"(rkllm_mcp_calls_total{method="rkllm_init",outcome="ok"} 1)"));
  CHECK(has_line(answer.body, R"(rkllm_mcp_calls_total{method="rkllm_run_async",outcome="ok"} 1)"));
  CHECK(has_line(answer.body, R"(rkllm_mcp_calls_total{method="rkllm_is_running",outcome="4002"} 1)"));
  CHECK(has_line(answer.body, "rkllm_mcp_tokens_total 7"));
  CHECK(has_line(answer.body, "rkllm_mcp_time_to_first_token_seconds_count 1"));
  CHECK(has_line(answer.body, "rkllm_mcp_token_interval_seconds_count 6"));
  CHECK_THAT(answer.body, has_text("\nrkllm_mcp_model_time_to_first_token_seconds{handle=\"llm-1\""));
  CHECK_THAT(answer.body, has_text("\nrkllm_mcp_model_tokens_per_second{handle=\"llm-1\",model="));
  CHECK_THAT(answer.body, has_text("\nrkllm_mcp_model_info{handle=\"llm-1\",model=") &&
                              has_text("path=\"" + shipped_model("fast") + "\"} 1\n"));
  CHECK(has_line(answer.body, R"(rkllm_mcp_running{handle="llm-1"} 0)"));
  CHECK(has_line(answer.body, R"(rkllm_mcp_connections{transport="tcp"} 1)"));
}

TEST_CASE("each call is one line of the log, without what was asked or answered") {
  LiveServer server;
  RpcClient client(server.connect(Transport::kTcp));
  const std::string handle = client.init(shipped_model("fast"));
  client.stream(client.run_async(handle, kSecret));
  REQUIRE(server.process().wait_for_error_text("method=rkllm_run_async"));
  server.process().signal(15);
  CHECK(server.process().wait() == 0);
  const std::string log = server.process().error_text();
  const auto at = log.find("call id=2 transport=tcp peer=127.0.0.1:");
  REQUIRE(at != std::string::npos);
  const std::string line = log.substr(at, log.find('\n', at) - at);
  INFO(line);
  CHECK(line.find(" method=rkllm_run_async handle=llm-1 queue_ms=") != std::string::npos);
  CHECK(line.find(" tokens=7 total_ms=") != std::string::npos);
  CHECK(line.ends_with(" outcome=ok"));
  CHECK(log.find("business") == std::string::npos);
}

TEST_CASE("what clients send cannot make up lines of a text log") {
  LiveServer server({.set = {"runtime.isolation=process"}});  // else the library itself writes to standard error
  RpcClient client(server.connect(Transport::kTcp));
  client.send_text(R"({"jsonrpc":"2.0","id":"1\nforged","method":"rkllm_is_running"})");
  client.receive_or_throw();
  client.call("rkllm_init", {{"param", {{"model_path", "/x\nE rkllm: forged\x1b[31m"}}}});
  REQUIRE(server.process().wait_for_error_text("method=rkllm_init"));
  const std::string log = server.process().error_text();
  CHECK(log.find("\nforged") == std::string::npos);
  CHECK(log.find("\x1b") == std::string::npos);
}

TEST_CASE("in a JSON log the fields of a call are members of its record") {
  LiveServer server({.set = {"log.format=json"}});
  RpcClient client(server.connect(Transport::kWebSocket));
  client.call("rkllm_is_running");
  REQUIRE(server.process().wait_for_error_text("rkllm_is_running"));
  server.process().signal(15);
  CHECK(server.process().wait() == 0);
  std::istringstream lines(server.process().error_text());
  Json call;
  for (std::string line; std::getline(lines, line);) {
    const Json record = Json::parse(line);
    if (record["message"] == "call") call = record;
  }
  REQUIRE(call.is_object());
  CHECK(call["id"] == 1);
  CHECK(call["transport"] == "ws");
  CHECK(call["method"] == "rkllm_is_running");
  CHECK(call["handle"].is_null());
  CHECK(call["outcome"] == "4002");
}

}  // namespace rkllm_mcp::test
