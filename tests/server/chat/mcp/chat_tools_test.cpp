// The chat set behind a dispatcher, without sockets, over a lender whose one model a test scripts.
#include "chat/mcp/chat_tools.hpp"

#include "runtime/fake_client.hpp"
#include "server/chat/host/scripted_lender.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using chat::ModelState;

struct Bench {
  explicit Bench(chat::HostOptions options = {.warm_up_bytes = 0})
      : host(lender, options), tools(client.loop, host, {.is_simulated = [] { return true; }}) {
    mcp::add_service(client.catalogue, tools.service());
  }

  // Everything that can happen now, of the loop and of the lender.
  Texts settle() {
    do {
      client.settle();
    } while (lender.step());
    return std::exchange(client.peer->sent, {});
  }
  void send(const std::string& id, const std::string& tool, const Json& arguments, bool with_progress = false) {
    Json params{{"name", tool}, {"arguments", arguments}};
    if (with_progress) params["_meta"]["progressToken"] = "p";
    client.receive(std::string_view(call(id, "tools/call", params.dump())));
  }
  Json answer(const std::string& tool, const Json& arguments = Json::object()) {
    send("1", tool, arguments);
    return only(settle())["result"];
  }

  chat::testing::ScriptedLender lender;
  chat::ChatHost host;
  Client client;
  chat::ChatTools tools;
};

std::vector<double> progress_in(const Texts& texts) {
  std::vector<double> values;
  for (const std::string& text : texts) {
    const Json message = Json::parse(text);
    if (message.value("method", "") == "notifications/progress") values.push_back(message["params"]["progress"]);
  }
  return values;
}

}  // namespace

TEST_CASE("a load tells the bytes that have been read, which only grow, and ends when the model is there") {
  Bench bench;
  bench.send("7", "load_model", {{"model", "qwen3-0.6b"}}, true);
  REQUIRE(bench.lender.loads() == 1);
  bench.lender.tell_loading({.bytes = 100, .total = 1000});
  bench.lender.tell_loading({.bytes = 100, .total = 1000});
  bench.lender.tell_loading({.bytes = 90, .total = 1000});
  bench.lender.tell_loading({});
  bench.lender.tell_loading({.bytes = 1000, .total = 1000});
  bench.lender.info.context = 4096;
  const Texts told = bench.settle();
  CHECK(progress_in(told) == std::vector<double>{100, 1000});
  const Json result = Json::parse(told.back())["result"]["structuredContent"];
  CHECK(result == Json{{"model", "qwen3-0.6b"}, {"context", 4096}, {"load_s", nullptr}, {"simulated", true}});
  CHECK(bench.lender.loads() == 0);
}

TEST_CASE("a load takes no place in the queue of those who use the model, and one that is cancelled is given up") {
  Bench bench;
  bench.lender.leased = true;  // somebody's turn
  bench.send("7", "load_model", {{"model", "qwen3-0.6b"}});
  CHECK(only(bench.settle())["result"]["structuredContent"]["model"] == "qwen3-0.6b");
  CHECK(bench.lender.wishes.empty());

  bench.send("8", "load_model", {{"model", "qwen3-0.6b"}});
  CHECK(bench.lender.loads() == 1);
  bench.client.receive(
      std::string_view(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}})"));
  CHECK(bench.settle().empty());
  CHECK(bench.lender.loads() == 0);
}

TEST_CASE("what the model thinks is in the result, and is no progress") {
  Bench bench;
  bench.lender.model.answers = {{"<think>", "Hm.", "</think>", "\n\n", "Hel", "lo."}};
  bench.send("7", "chat", {{"message", "Hi"}, {"temperature", 0.5}, {"max_tokens", 100}}, true);
  const Texts told = bench.settle();
  std::string streamed;
  for (const std::string& text : told) {
    const Json message = Json::parse(text);
    if (message.contains("method")) streamed += message["params"].value("message", "");
  }
  CHECK(streamed == "Hello.");
  const Json result = Json::parse(told.back())["result"]["structuredContent"];
  INFO(result.dump());
  CHECK(result["text"] == "Hello.");
  CHECK(result["thinking"].get<std::string>().find("Hm.") != std::string::npos);
  CHECK_FALSE(result.contains("ignored"));
  CHECK(bench.lender.model.runs.at(0).options.sampling.temperature == 0.5);
  CHECK(bench.lender.model.runs.at(0).options.max_new_tokens == 100);
}

TEST_CASE("what a runtime cannot honour is named, and a speed is null until there is one") {
  Bench bench;
  bench.lender.info.state = ModelState::kLoaded;
  const auto speed = [&bench] { return bench.answer("status")["structuredContent"]["models"][0]["tokens_per_second"]; };
  CHECK(speed().is_null());
  bench.lender.model.known.has_run_options = false;
  bench.lender.model.answers = {{"Yes."}};
  const Json arguments{{"message", "Hi"}, {"temperature", 0}, {"max_tokens", 100}};
  CHECK(bench.answer("chat", arguments)["structuredContent"]["ignored"] == Json{"sampling"});
  CHECK(speed() == 50);  // one token in 20 ms: the first of the two came with the prompt
  bench.lender.model.known.has_kv_size = false;
  CHECK(bench.answer("chat", arguments)["content"][0]["text"].get<std::string>().find("1.2.1 or later") !=
        std::string::npos);
}

TEST_CASE("a call that waits says so, and the end of the server ends it") {
  Bench bench;
  bench.lender.leased = true;
  bench.send("7", "chat", {{"message", "Hi"}, {"max_tokens", 100}});
  bench.settle();
  const Json answers = bench.answer("status")["structuredContent"]["answers"];
  REQUIRE(answers.size() == 1);
  CHECK(
      answers[0] ==
      Json{{"model", "qwen3-0.6b"}, {"conversation", nullptr}, {"state", "waits"}, {"calls_before", 1}, {"bytes", 0}});
  bench.tools.stop();
  const Json ended = only(bench.settle())["result"];
  CHECK(ended["isError"] == true);
  CHECK(ended["content"][0]["text"] == "the server is ending");
  CHECK(bench.lender.places() == 0);
  CHECK(bench.answer("status")["isError"] == true);
}

TEST_CASE("text with U+0000 is refused, and so is a model that has no embeddings") {
  Bench bench;
  const Json nul = bench.answer("chat", {{"message", std::string("a\0b", 3)}});
  CHECK(nul["content"][0]["text"] == "params.arguments.message: must not contain U+0000");
  CHECK(bench.answer("embed", {{"input", "a cat"}})["content"][0]["text"].get<std::string>().find("no embeddings") !=
        std::string::npos);
  bench.lender.info.name = "other";
  CHECK(bench.answer("chat", {{"message", "Hi"}, {"model", "qwen3-0.6b"}})["isError"] == true);
}

}  // namespace rkllm_mcp::test
