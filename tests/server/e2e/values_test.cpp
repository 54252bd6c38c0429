// Hidden states and logits: inline for direct calls, by a link from MCP when there are many of them.
#include "support/catch.hpp"
#include "support/live_server.hpp"
#include "support/raw_socket.hpp"
#include "support/rpc_client.hpp"

#include <rkllm_mcp/json.hpp>

#include <string>
#include <string_view>

namespace rkllm_mcp::test {
namespace {

constexpr std::size_t kPart = 300'000;  // a multiple of three, so that base64 texts can be put together

Json scoring(std::string_view encoding) {
  Json params = run_params("llm-1", "one two three four five six seven eight nine ten eleven twelve thirteen fourteen");
  params["rkllm_infer_params"] = {{"mode", "RKLLM_INFER_GET_LOGITS"}, {"max_new_tokens", 1}};
  params["encoding"] = encoding;
  return params;
}

// Of the whole prompt: none of it is in the model's cache.
Json score_anew(RpcClient& client) {
  return client.result("rkllm_clear_kv_cache", {{"handle", "llm-1"}, {"keep_system_prompt", 0}});
}

}  // namespace

TEST_CASE("a tool answers many logits with a link, and what it leads to is read in parts") {
  LiveServer server;
  RpcClient client(server.connect(Transport::kTcp));
  client.init(shipped_model("fast"));
  const Json direct = client.result("rkllm_run", scoring("base64"))["logits"];
  score_anew(client);
  const Json answer = client.result("tools/call", Json{{"name", "rkllm_run"}, {"arguments", scoring("json")}});
  const Json& logits = answer["structuredContent"]["logits"];
  CHECK(logits["logits"].is_null());
  CHECK(logits["vocab_size"] == direct["vocab_size"]);
  REQUIRE(answer["content"].size() == 2);
  const Json& link = answer["content"][1];
  CHECK(link["type"] == "resource_link");
  CHECK(link["_meta"]["rkllm/values"]["shape"] == Json{direct["num_tokens"], direct["vocab_size"]});
  const std::string uri = link["uri"];
  const std::size_t bytes = link["size"];
  std::string fetched;
  for (std::size_t offset = 0; offset < bytes; offset += kPart) {
    const Json part =
        client.result("resources/read",
                      Json{{"uri", uri + "?offset=" + std::to_string(offset) + "&length=" + std::to_string(kPart)}});
    fetched += part["contents"][0]["blob"].get<std::string>();
  }
  const bool same = fetched == direct["logits"]["base64"].get<std::string>();
  CHECK(same);
  CHECK(client.call("resources/read", Json{{"uri", "rkllm://values/nothing"}})["error"]["code"] == -32602);
}

TEST_CASE("a direct answer with values beyond limits.max_reply_bytes is an error that names the way") {
  LiveServer server({.set = {"limits.max_reply_bytes=65536"}});
  RpcClient client(server.connect(Transport::kTcp));
  client.init(shipped_model("fast"));
  const Json error = client.call("rkllm_run", scoring("base64"))["error"];
  CHECK(error["code"] == 4006);
  CHECK(error["message"].get<std::string>().find("tools/call") != std::string::npos);
  StreamCheck stream = client.stream(client.send("rkllm_run_async", scoring("json")));
  CHECK(stream.ending()["error"]["code"] == 4006);
}

TEST_CASE("a client that has stopped sending gets its logits, however many they are") {
  LiveServer server;
  RpcClient(server.connect(Transport::kTcp)).init(shipped_model("fast"));
  RawSocket client(server.port(Transport::kTcp));
  client.send(Json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "rkllm_run"}, {"params", scoring("base64")}}.dump() +
              "\n");
  client.finish_sending();
  const Json answer = Json::parse(client.receive_rest());
  CHECK(answer["result"]["logits"]["logits"]["base64"].get<std::string>().size() > 64 * 1024);
}

TEST_CASE("many logits are the same as numbers and as base64, at once, pushed and polled") {
  LiveServer server;
  RpcClient client(server.connect(Transport::kTcp));
  client.init(shipped_model("fast"));
  const Json numbers = client.result("rkllm_run", scoring("json"))["logits"];
  REQUIRE(numbers["logits"].size() ==
          numbers["vocab_size"].get<std::size_t>() * numbers["num_tokens"].get<std::size_t>());
  score_anew(client);
  StreamCheck pushed = client.stream(client.send("rkllm_run_async", scoring("json")));
  const bool same_when_pushed = pushed.ending()["logits"] == numbers;  // of which a report would take minutes
  CHECK(same_when_pushed);
  RpcClient polling(server.connect(Transport::kHttp));
  score_anew(polling);
  StreamCheck polled = polling.stream(polling.send("rkllm_run_async", scoring("json")));
  const bool same_when_polled = polled.ending()["logits"] == numbers;
  CHECK(same_when_polled);
}

}  // namespace rkllm_mcp::test
