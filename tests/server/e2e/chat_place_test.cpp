// A client that leaves while it waits: its place is the next one's.
#include "named_models.hpp"
#include "support/catch.hpp"
#include "support/chat_dialect.hpp"
#include "support/http_client.hpp"
#include "support/live_server.hpp"
#include "support/raw_socket.hpp"

#include <chrono>
#include <cstddef>
#include <future>
#include <stdexcept>
#include <string>

namespace rkllm_mcp::test {
namespace {

constexpr const char* kBusy = "busy";
constexpr const char* kOnePlace = "queue.max_per_handle=1";

// Waits until the model's queue has so many places taken, the one that runs included.
void await_places(const LiveServer& server, std::size_t places) {
  HttpClient client(server.endpoint(Transport::kHttp));
  const auto deadline = std::chrono::steady_clock::now() + Process::kPatience;
  for (;;) {
    const Json model = client.get("/v1/models/" + std::string(kBusy)).json()["rkllm"];
    if (model["waiting"] == places) return;
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("the model is " + model.dump());
  }
}

}  // namespace

TEST_CASE(
    "a client that leaves the queue of a chat model gives its place to the next one, whichever dialect it spoke") {
  NamedModels models;
  LiveServer server(models.add(kBusy, {{"decode_tokens_per_s", 20}}).options({kOnePlace}));
  const ChatDialect& openai = kChatDialects.front();
  Json endless = openai.question(kBusy, "@n=100000000", true);
  endless.erase("max_tokens");
  RawSocket running(server.port(Transport::kHttp));
  running.send(chat_request(openai.path, endless));
  running.receive_until("data: ");
  for (const ChatDialect& dialect : kChatDialects) {
    for (const bool streams : {true, false}) {
      INFO(dialect.path << (streams ? " streams" : ""));
      RawSocket waiting(server.port(Transport::kHttp));
      waiting.send(chat_request(dialect.path, dialect.question(kBusy, "Never begun", streams)));
      await_places(server, 2);
      HttpClient client(server.endpoint(Transport::kHttp));
      CHECK(client.post(openai.path, openai.question(kBusy, "No place", false).dump()).status == 503);
      if (streams) {
        waiting.close();
      } else {
        waiting.reset();
      }
      await_places(server, 1);
    }
  }
  auto next = std::async(std::launch::async, [&] {
    HttpClient client(server.endpoint(Transport::kHttp));
    return client.post(openai.path, openai.question(kBusy, dictated("At last."), false).dump());
  });
  await_places(server, 2);
  running.close();
  const HttpAnswer answer = next.get();
  INFO(answer.body);
  CHECK(answer.status == 200);
  CHECK(answer.headers.at("x-rkllm-queue-position") == "1");
  CHECK(openai.text_in(answer.body) == "At last.");
  for (const RecordedRun& run : server.recorded_runs()) CHECK(run.prompt.find("Never begun") == std::string::npos);
}

TEST_CASE("a client that leaves while its model is being loaded gives its place to the next one") {
  NamedModels models;
  models.add(kBusy, {{"faults", {{{"when", "init"}, {"what", "hang"}}}}});
  LiveServer server(models.options({kOnePlace}));
  const ChatDialect& openai = kChatDialects.front();
  for (const ChatDialect& dialect : kChatDialects) {
    CAPTURE(dialect.path);
    RawSocket waiting(server.port(Transport::kHttp));
    waiting.send(chat_request(dialect.path, dialect.question(kBusy, "Hello", true)));
    await_places(server, 1);
    HttpClient client(server.endpoint(Transport::kHttp));
    const HttpAnswer full = client.post(openai.path, openai.question(kBusy, "No place", false).dump());
    CHECK(full.status == 503);
    CHECK(full.headers.count("Retry-After") == 1);
    waiting.close();
    await_places(server, 0);
  }
}

TEST_CASE("a client that leaves the queue of embeddings gives its place to the next one") {
  NamedModels models;
  LiveServer server(models.add(kBusy, {{"prefill_tokens_per_s", 100}}).options({kOnePlace}));
  const auto embedding = [](const std::string& text) { return Json{{"model", kBusy}, {"input", text}}; };
  const auto await_queue = [&server](bool runs, std::size_t queued) {
    await_health(server, [&](const Json& all) {
      return all.size() == 1 && all[0]["running"] == runs && all[0]["queued"] == queued;
    });
  };
  std::string text;
  for (int number = 0; number < 2000; ++number) text += " a";  // a token each
  RawSocket running(server.port(Transport::kHttp));
  running.send(chat_request("/v1/embeddings", embedding(text)));
  await_queue(true, 0);
  for (const std::string path : {"/v1/embeddings", "/api/embed"}) {
    CAPTURE(path);
    RawSocket waiting(server.port(Transport::kHttp));
    waiting.send(chat_request(path, embedding("Never begun")));
    await_queue(true, 1);
    HttpClient client(server.endpoint(Transport::kHttp));
    const HttpAnswer full = client.post(path, embedding("No place").dump());
    INFO(full.body);
    CHECK(full.status == 503);
    CHECK(full.headers.count("Retry-After") == 1);
    waiting.close();
    await_queue(true, 0);
  }
  for (const RecordedRun& run : server.recorded_runs()) CHECK(run.prompt.find("Never begun") == std::string::npos);
}

}  // namespace rkllm_mcp::test
