// Streams that are fetched instead of pushed: POST /jsonrpc and the method poll.
#include "arrived_whole.hpp"
#include "support/catch.hpp"
#include "support/http_client.hpp"
#include "support/live_server.hpp"
#include "support/rpc_client.hpp"

#include <chrono>
#include <future>
#include <string>

namespace rkllm_mcp::test {
namespace {

using Clock = std::chrono::steady_clock;

const Json kNotFound{{"code", 4003}, {"message", "stream session not exists or expired"}, {"data", Json::object()}};

// A client as curl is one: a request, a reply.
class PlainClient {
 public:
  explicit PlainClient(const LiveServer& server) : http_(server.endpoint(Transport::kHttp)) {}
  PlainClient(const LiveServer& server, const std::string& session) : PlainClient(server) {
    http_.carry_header("Mcp-Session-Id", session);
  }

  Json call(const Json& id, std::string_view method, const Json& params) {
    return http_.post("/jsonrpc", Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump())
        .json();
  }
  Json run(const Json& id, const std::string& prompt) {
    return call(id, "rkllm_run_async", run_params("llm-1", prompt));
  }
  Json poll(const Json& id, const Json& params = Json::object()) { return call(id, "poll", params); }

 private:
  HttpClient http_;
};

LiveServer::Options with(std::vector<std::string> settings) {
  LiveServer::Options options;
  options.set = std::move(settings);
  return options;
}

// Returns when no run is left on llm-1.
void await_idle(LiveServer& server) {
  RpcClient(server.connect(Transport::kTcp)).result("rkllm_get_kv_cache_size", {{"handle", "llm-1"}});
}

void init(LiveServer& server, const std::string& model) { RpcClient(server.connect(Transport::kTcp)).init(model); }

}  // namespace

TEST_CASE("a run over plain HTTP is announced, then polled to its end, then forgotten") {
  LiveServer server;
  init(server, shipped_model("fast"));
  PlainClient client(server);
  const Json announcement = client.run(123, "@n=50");
  CHECK(announcement["result"]["poll_timeout_s"] == 30);
  const std::string stream_id = announcement["result"]["stream_id"].get<std::string>();
  CHECK(stream_id.size() >= 16);
  CHECK(stream_id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") == std::string::npos);

  StreamCheck stream(123, "rkllm_run_async");
  REQUIRE(stream.take(announcement));
  while (!stream.ended()) REQUIRE(stream.take(client.poll(123, {{"wait_ms", 1000}})));
  CHECK(difference(server, stream, "@n=50", 50) == "");
  CHECK(stream.ending()["state"] == "RKLLM_RUN_FINISH");
  CHECK(stream.ending()["status"] == 0);
  CHECK(stream.ending()["perf"].size() == 5);

  CHECK(client.poll(123)["error"] == kNotFound);
  CHECK(client.poll(123, {{"stream_id", stream_id}})["error"] == kNotFound);
  CHECK(client.poll(124)["error"] == kNotFound);
}

TEST_CASE("everything since the last poll is one chunk, and a poll that finds nothing uses no seq up") {
  LiveServer server;
  init(server, server.write_model("slow", {{"npu_cores", 1}, {"decode_tokens_per_s", 4}}));
  PlainClient client(server);
  client.run(1, kEndless);
  const Json first = client.poll(1, {{"wait_ms", 5000}})["result"];
  CHECK(first["chunk"]["seq"] == 0);
  CHECK(first["chunk"]["delta"] != "");
  CHECK(first.size() == 1);
  CHECK(first["chunk"].size() == 2);
  const Json nothing{{"chunk", {{"seq", 1}, {"delta", ""}}}};
  CHECK(client.poll(1)["result"] == nothing);
  CHECK(client.poll(1)["result"] == nothing);
  const Json second = client.poll(1, {{"wait_ms", 5000}})["result"];
  CHECK(second["chunk"]["seq"] == 1);
  CHECK(second["chunk"]["delta"] != "");
}

TEST_CASE("wait_ms holds the reply until there is something to say, and no longer than it says") {
  LiveServer server;
  init(server, server.write_model("slow", {{"npu_cores", 1}, {"prefill_tokens_per_s", 50}}));
  PlainClient client(server);
  client.run(1, "@n=20 a prompt of a few words, which takes a while to be computed");
  const auto begun = Clock::now();
  CHECK(client.poll(1, {{"wait_ms", 30}})["result"]["chunk"] == Json{{"seq", 0}, {"delta", ""}});
  CHECK(Clock::now() - begun >= std::chrono::milliseconds(30));
  CHECK(client.poll(1, {{"wait_ms", 25'000}})["result"]["chunk"]["delta"] != "");
  CHECK(Clock::now() - begun < std::chrono::seconds(10));
  CHECK(client.poll(1, {{"wait_ms", 25'001}})["error"]["code"] == -32602);
  CHECK(client.poll(1, {{"wait_ms", -1}})["error"]["code"] == -32602);
}

TEST_CASE("a second poll sends the first one home") {
  LiveServer server;
  init(server, server.write_model("slow", {{"npu_cores", 1}, {"decode_tokens_per_s", 1}}));
  PlainClient client(server);
  client.run(1, kEndless);
  client.poll(1, {{"wait_ms", 5000}});
  auto first = std::async(std::launch::async, [&] { return PlainClient(server).poll(1, {{"wait_ms", 25'000}}); });
  // Whichever of the two comes second waits; both are answered by the next token.
  const Json second = client.poll(1, {{"wait_ms", 25'000}});
  CHECK(second.contains("result"));
  CHECK(first.get().contains("result"));
}

TEST_CASE("a stream is polled by its stream_id from any transport and under any id") {
  LiveServer::Options options;
  options.with_stdio = true;
  LiveServer server(options);
  init(server, server.paced_model(100));
  PlainClient client(server);
  const Json params{{"stream_id", client.run(1, "@n=100000")["result"]["stream_id"]}, {"wait_ms", 5000}};
  std::uint64_t seq = 0;
  for (const Transport transport : kAllTransports) {
    INFO(name_of(transport));
    RpcClient other(server.connect(transport));
    const Json message = other.call("poll", params);
    CHECK(message["method"] == "rkllm_run_async");
    CHECK(message["result"]["chunk"]["seq"] == seq++);
  }
  // The method called again with nothing but a stream_id is a poll as well.
  const Json again = client.call("again", "rkllm_run_async", {{"stream_id", params["stream_id"]}});
  CHECK(again["id"] == "again");
  CHECK(again["result"]["chunk"]["seq"] == seq);
}

TEST_CASE("an id that is still streaming cannot be used for another run") {
  LiveServer server;
  init(server, server.paced_model(100));
  PlainClient client(server);
  client.run("mine", kEndless);
  const Json refused = client.run("mine", "another");
  CHECK(refused["id"] == "mine");
  CHECK(refused["error"]["code"] == -32600);
  CHECK(refused["error"]["message"].get<std::string>().find("still streaming") != std::string::npos);
  CHECK(client.run("other", "another").contains("result"));
}

TEST_CASE("an id belongs to the session that Mcp-Session-Id names") {
  LiveServer server;
  init(server, server.paced_model(100));
  std::string sessions[2];
  for (std::string& session : sessions) {
    session = HttpClient(server.endpoint(Transport::kHttp))
                  .post("/mcp", R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{)"
                                R"("protocolVersion":"2025-06-18","capabilities":{},)"
                                R"("clientInfo":{"name":"test","version":"1"}}})")
                  .headers.at("Mcp-Session-Id");
  }
  PlainClient one(server, sessions[0]);
  PlainClient two(server, sessions[1]);
  PlainClient nobody(server);
  const Json announced = one.run(7, "@n=10");
  REQUIRE(announced.contains("result"));
  CHECK(two.poll(7)["error"] == kNotFound);
  CHECK(nobody.poll(7)["error"] == kNotFound);
  CHECK(two.run(7, "@n=20").contains("result"));  // the same id is free there
  StreamCheck stream(7, "rkllm_run_async");
  stream.take(announced);
  while (!stream.ended()) REQUIRE(stream.take(one.poll(7, {{"wait_ms", 1000}})));
  CHECK(difference(server, stream, "@n=10", 10) == "");
}

TEST_CASE("a session that does not exist is refused with status 404") {
  LiveServer server;
  HttpClient client(server.endpoint(Transport::kHttp));
  client.carry_header("Mcp-Session-Id", "neverexisted0000");
  const auto answer = client.post("/jsonrpc", R"({"jsonrpc":"2.0","id":1,"method":"poll"})");
  CHECK(answer.status == 404);
  CHECK(answer.json()["error"]["code"] == -32600);
}

TEST_CASE("a stream that nobody polls is discarded, and its run aborted") {
  LiveServer server(with({"stream.poll_timeout_s=1"}));
  init(server, server.paced_model(100));
  PlainClient client(server);
  const auto begun = Clock::now();
  const Json announcement = client.run(1, kEndless);
  CHECK(announcement["result"]["poll_timeout_s"] == 1);
  await_idle(server);
  CHECK(Clock::now() - begun >= std::chrono::seconds(1));
  CHECK(run_of(server, kEndless).aborted);
  CHECK(client.poll(1)["error"] == kNotFound);
  CHECK(client.poll(1, {{"stream_id", announcement["result"]["stream_id"]}})["error"] == kNotFound);
}

TEST_CASE("a stream that is polled in time lives on") {
  LiveServer server(with({"stream.poll_timeout_s=2"}));
  init(server, server.paced_model(100));
  PlainClient client(server);
  const auto begun = Clock::now();
  StreamCheck stream(1, "rkllm_run_async");
  stream.take(client.run(1, "@n=250"));
  while (!stream.ended()) REQUIRE(stream.take(client.poll(1, {{"wait_ms", 400}})));
  CHECK(Clock::now() - begun > std::chrono::seconds(2));
  CHECK(difference(server, stream, "@n=250", 250) == "");
}

TEST_CASE("a full buffer aborts the run, and the error waits for the poll after the text") {
  LiveServer server(with({"stream.buffer_bytes=4096"}));
  init(server, shipped_model("fast"));
  PlainClient client(server);
  client.run(1, kEndless);
  await_idle(server);
  const RecordedRun run = run_of(server, kEndless);
  CHECK(run.aborted);
  const Json text = client.poll(1)["result"]["chunk"];
  CHECK(text["seq"] == 0);
  CHECK_FALSE(text.contains("end"));
  const std::string delta = text["delta"].get<std::string>();
  CHECK(delta.size() <= 4096);  // what is kept about each token counts as well
  CHECK(delta.size() > 1000);
  CHECK(run.text.starts_with(delta));
  const Json error = client.poll(1)["error"];
  CHECK(error["code"] == 4006);
  CHECK(error["data"]["limit"] == 4096);
  CHECK(client.poll(1)["error"] == kNotFound);
}

TEST_CASE("a run that fails at once says so instead of announcing a stream") {
  LiveServer server;
  init(server, shipped_model("fast"));
  PlainClient client(server);
  Json refused = client.call(1, "rkllm_run_async", {{"rkllm_input", {{"promt_input", "Hello"}}}});
  if (refused.contains("result")) {  // this machine has taken longer to fail than an announcement is held back
    WARN("announced");
    refused = client.poll(1, {{"wait_ms", 20'000}});
  }
  CHECK(refused["error"]["code"] == -32602);
  CHECK(client.poll(1)["error"] == kNotFound);
}

TEST_CASE("rkllm_run over plain HTTP answers once, and as a polled stream if asked to") {
  LiveServer server;
  init(server, shipped_model("fast"));
  PlainClient client(server);
  const Json whole = client.call(1, "rkllm_run", run_params("llm-1", "@n=40 @seed=1"))["result"];
  CHECK(whole["text"] == run_of(server, "@n=40 @seed=1").text);
  Json params = run_params("llm-1", "@n=40 @seed=2");
  params["stream"] = true;
  StreamCheck stream(2, "rkllm_run");
  REQUIRE(stream.take(client.call(2, "rkllm_run", params)));
  CHECK_FALSE(stream.announcement().is_null());
  while (!stream.ended()) REQUIRE(stream.take(client.poll(2, {{"wait_ms", 1000}})));
  CHECK(difference(server, stream, "@n=40 @seed=2", 40) == "");
}

TEST_CASE("prompts of a batch stay apart when they are polled with their token ids") {
  LiveServer server;
  RpcClient(server.connect(Transport::kTcp)).init(shipped_model("fast"), {{"extend_param", {{"n_batch", 2}}}});
  PlainClient client(server);
  const Json inputs{{{"prompt_input", "@n=50 @seed=1"}}, {{"prompt_input", "@n=50 @seed=2"}}};
  client.call(1, "rkllm_run_async", {{"rkllm_input", inputs}, {"include", {"token_id"}}});
  std::string texts[2];
  for (Json chunk; !chunk.contains("end");) {
    const Json message = client.poll(1, {{"wait_ms", 1000}});
    REQUIRE(message.contains("result"));
    chunk = message["result"]["chunk"];
    texts[chunk.value("batch", 0)] += chunk["delta"].get<std::string>();
  }
  CHECK(texts[0] == run_of(server, "@n=50 @seed=1").text);
  CHECK(texts[1] == read_file(server.directory() / "record/1-1.1.txt"));
}

TEST_CASE("what did not fit a datagram is refused again when it is asked for again") {
  LiveServer server;
  init(server, server.write_model("wide", {{"npu_cores", 1}, {"embedding_size", 4096}}));
  RpcClient client(server.connect(Transport::kUdp));
  Json params = run_params("llm-1", "a few words, each of them a row of 4096 numbers");
  params["rkllm_infer_params"] = {{"mode", "RKLLM_INFER_GET_LAST_HIDDEN_LAYER"}};
  const int id = client.send("rkllm_run_async", params);
  const StreamCheck refused = client.stream(id);
  REQUIRE(refused.ending().contains("error"));
  CHECK(refused.ending()["error"]["code"] == 4006);
  client.send_text(Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", "poll"}}.dump());
  Json again;
  do again = client.receive_or_throw();
  while (!again.contains("error"));  // an earlier request for more may still be answered
  CHECK(again["error"] == refused.ending()["error"]);
}

}  // namespace rkllm_mcp::test
