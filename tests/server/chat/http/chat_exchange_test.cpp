// An answer on its way to a client that reads as a test wants it, without sockets.
#include "chat/http/chat_exchange.hpp"

#include "server/chat/host/scripted_lender.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;
using namespace rkllm_mcp::chat::testing;

namespace {

// Takes all that is written, and says that it is too much.
class FullExchange final : public http::Exchange {
 public:
  void respond(http::Response response) override {
    status = response.status;
    headers = std::move(response.headers);
    text = std::move(response.body);
  }
  void start_stream(int with_status, const http::Headers& all) override {
    status = with_status;
    headers = all;
  }
  void write(std::string_view bytes) override { text += bytes; }
  void finish() override { is_finished = true; }
  bool ready() const override { return has_room; }
  bool closed() const override { return false; }
  bool has_room_for(std::size_t /*bytes*/) const override { return true; }

  int status = 0;
  http::Headers headers;
  std::string text;
  bool is_finished = false;
  bool has_room = false;
};

struct Reading {
  explicit Reading(std::optional<std::chrono::milliseconds> most_held) {
    const Json body = Json::parse(R"({"model":"qwen3-0.6b","stream":true,"max_tokens":100,
                                      "messages":[{"role":"user","content":"Hi"}]})");
    lender.model.answers = {{"one", " two", " three"}};
    ChatExchange::Options options;
    options.heartbeat = std::chrono::hours(1);
    options.most_held = most_held;
    ChatJob job = find_chat_endpoint("/v1/chat/completions")->read(body, {});
    answer = std::make_shared<ChatExchange>(loop, *client, std::move(job), std::move(options), [](int) {});
    answer->begin(host, {}, "");
    lender.settle();
  }
  // Lets time pass; false if that does not come.
  bool until(const std::function<bool()>& is_so) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!is_so() && std::chrono::steady_clock::now() < deadline) {
      loop.restart();
      loop.run_one_for(std::chrono::milliseconds(5));
      lender.settle();
    }
    return is_so();
  }

  asio::io_context loop;
  ScriptedLender lender;
  ChatHost host{lender, {.warm_up_bytes = 0}};
  std::shared_ptr<FullExchange> client = std::make_shared<FullExchange>();
  std::shared_ptr<ChatExchange> answer;
};

// An answer in Ollama's form of a model that says nothing before the test lets it.
struct SilentOllama {
  SilentOllama(asio::io_context& loop, bool streams) {
    const Json question{{"role", "user"}, {"content", "Hi"}};
    const Json body{{"model", "qwen3-0.6b"}, {"stream", streams}, {"messages", Json::array({question})}};
    lender.model.answers = {{"Hello"}};
    ChatExchange::Options options;
    options.surface = Surface::kOllama;
    options.heartbeat = std::chrono::milliseconds(1);
    ChatJob job = find_chat_endpoint("/api/chat")->read(body, {});
    answer = std::make_shared<ChatExchange>(loop, *client, std::move(job), std::move(options), [](int) {});
    answer->begin(host, {}, "");
  }

  ScriptedLender lender;
  ChatHost host{lender, {.warm_up_bytes = 0}};
  std::shared_ptr<FullExchange> client = std::make_shared<FullExchange>();
  std::shared_ptr<ChatExchange> answer;
};

// Keeps nothing.
struct FullStore final : ResponseStore {
  void recall(const std::string&, const std::string&, RecalledFunction) override {}
  void keep(const std::string&, const std::string&, Json, KeptFunction done) override {
    done(TurnError(ErrorKind::kInternal, "the store is full"));
  }
};

// A response that was to be kept, where nothing can be.
struct Unkept {
  explicit Unkept(bool streams) {
    client->has_room = true;
    lender.model.answers = {{"Hello"}};
    const Json body{{"model", "qwen3-0.6b"}, {"input", "Hi"}, {"store", true}, {"stream", streams}};
    ChatExchange::Options options;
    options.heartbeat = std::chrono::hours(1);
    options.responses = &store;
    options.warn_of_unkept = [this](const std::string& id, const std::string& why) { log += id + ": " + why; };
    ReplyFacts facts;
    facts.id = "resp_1";
    ChatJob job = find_chat_endpoint("/v1/responses")->read(body, facts);
    const auto gone = [this](int status) { noted = status; };
    answer = std::make_shared<ChatExchange>(loop, *client, std::move(job), std::move(options), gone);
    answer->begin(host, {}, "");
    lender.settle();
  }

  asio::io_context loop;
  ScriptedLender lender;
  ChatHost host{lender, {.warm_up_bytes = 0}};
  FullStore store;
  std::string log;
  int noted = 0;
  std::shared_ptr<FullExchange> client = std::make_shared<FullExchange>();
  std::shared_ptr<ChatExchange> answer;
};

}  // namespace

TEST_CASE("a response that cannot be kept is told all the same, with what has not become of its request") {
  const Unkept unkept(false);
  CHECK(unkept.client->status == 200);
  CHECK(unkept.noted == 200);
  CHECK(unkept.client->headers.find("x-rkllm-ignored") == "store");
  const Json response = Json::parse(unkept.client->text);
  CHECK(response["status"] == "completed");
  CHECK(response["store"] == false);
  CHECK_THAT(response["output"].dump(), rkllm_mcp::test::has_text("Hello"));
  CHECK(unkept.log == "resp_1: the store is full");
}

TEST_CASE("a streamed response that cannot be kept ends as one that was not to be") {
  const Unkept unkept(true);
  CHECK(unkept.noted == 200);
  CHECK(unkept.client->is_finished);
  const std::string& text = unkept.client->text;
  CHECK_THAT(text, !rkllm_mcp::test::has_text("response.failed"));
  const std::string begin = "event: response.completed\ndata: ";
  const auto at = text.find(begin);
  REQUIRE(at != std::string::npos);
  const Json response = Json::parse(text.substr(at + begin.size())).at("response");
  CHECK(response["store"] == false);
  CHECK(response["rkllm"] == Json{{"ignored", {"store"}}});
  CHECK_THAT(response["output"].dump(), rkllm_mcp::test::has_text("Hello"));
  CHECK(unkept.log == "resp_1: the store is full");
}

TEST_CASE("a stream of Ollama's gets pieces without content while its model is silent, and a whole answer none") {
  asio::io_context loop;
  SilentOllama whole(loop, false);
  SilentOllama stream(loop, true);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (stream.client->text.empty() && std::chrono::steady_clock::now() < deadline) {
    loop.restart();
    loop.run_one_for(std::chrono::milliseconds(5));
  }
  const Json line = Json::parse(stream.client->text);
  CHECK(line["message"] == Json{{"role", "assistant"}, {"content", ""}});
  CHECK(line["done"] == false);
  CHECK(whole.client->text.empty());
  whole.lender.settle();
  const Json answer = Json::parse(whole.client->text);
  CHECK(answer["message"]["content"] == "Hello");
  CHECK(answer["done"] == true);
}

TEST_CASE("a run waits for its reader") {
  Reading reading(std::nullopt);
  CHECK(reading.lender.model.is_held());
  CHECK_FALSE(reading.client->is_finished);
}

TEST_CASE("a reader that holds its run for long holds it no more, and its answer waits whole in memory") {
  Reading reading(std::chrono::milliseconds(20));
  CHECK(reading.lender.model.is_held());
  REQUIRE(reading.until([&] { return reading.client->is_finished; }));
  CHECK(reading.lender.model.runs.at(0).generated == 4);
  CHECK_THAT(reading.client->text, rkllm_mcp::test::has_text(" three"));
  CHECK_THAT(reading.client->text, rkllm_mcp::test::has_text("[DONE]"));
  CHECK_FALSE(reading.lender.leased);
}
