// Answers with many values, which are written beside the loop: where memory is short, where sending fails, and where
// their client has stopped sending.
#include "runtime/fake_client.hpp"
#include "support/catch.hpp"
#include "support/usual_limits.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

constexpr std::size_t kFloats = 100'000;  // of which a megabyte of text could come
constexpr std::size_t kFew = 10'000;      // that are written on the loop

void end_with_values(Client& client, std::size_t number, std::size_t count = kFloats) {
  const std::vector<float> values(count, 0.25F);
  client.backend.calls.at(number).observer->on_rows(
      {"logits", "logits", "num_tokens", "vocab_size", values.data(), 1, count});
  client.backend.finish(number);
}

// Runs the loop until there is so; what callbacks let through is counted.
std::size_t faults_until(Client& client, const std::function<bool()>& condition) {
  std::size_t faults = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition() && std::chrono::steady_clock::now() < deadline) {
    client.loop.restart();
    try {
      client.loop.run_one_for(std::chrono::milliseconds(10));
    } catch (const std::logic_error&) {
      ++faults;
    }
  }
  REQUIRE(condition());
  return faults;
}

Texts sent_after(Client& client, std::size_t count = 1) {
  CHECK(faults_until(client, [&] { return client.peer->sent.size() >= count; }) == 0);
  return client.peer->sent;
}

struct Budget {
  explicit Budget(std::size_t limit) : memory(limit) {
    options.calls.memory = memory;
    options.calls.stream_memory = MemoryBudget(limit, memory);
  }
  MemoryBudget memory;
  Dispatcher::Options options = usual_limits<Dispatcher::Options>();
};

// One that polls over HTTP.
struct PollingClient : Client {
  explicit PollingClient(const Dispatcher::Options& options = usual_limits<Dispatcher::Options>()) : Client(options) {
    session = dispatcher.make_session(dispatcher.gate().identify(""), SessionOf::kManyClients);
    peer = std::make_shared<FakePeer>(TransportKind::kHttp);
  }
  void ask(const std::string& message) {
    peer->sent.clear();
    receive_text(dispatcher, message, *session, *peer, Delivery::kPoll);
  }
  // The answer to a poll that finds something at once.
  Json polled() {
    ask(call("1", "poll"));
    return only(peer->sent);
  }
  std::shared_ptr<Session> session;
};

}  // namespace

TEST_CASE("an answer with many values whose client has stopped sending is sent before the connection closes") {
  Client client;
  client.say(call("1", "run"));
  std::size_t sent_before_closing = 0;
  client.peer->when_closed([&] { sent_before_closing = client.peer->sent.size(); });
  client.receive(EndOfInput{});
  end_with_values(client, 0);
  faults_until(client, [&] { return client.peer->closed(); });
  CHECK(sent_before_closing == 1);
  CHECK(only(client.peer->sent)["result"]["logits"]["logits"].size() == kFloats);
}

TEST_CASE("an answer with many values for which there is no memory is error 4004, and everything is given back") {
  Budget budget(kFloats * sizeof(float) + 1000);
  Client client(budget.options);
  for (const std::string params : {R"({"stream":false})", "{}", R"({"stream":true})"}) {
    INFO(params);
    client.say(call("1", "run_async", params));
    client.peer->sent.clear();
    end_with_values(client, client.backend.calls.size() - 1);
    const Json told = only(sent_after(client));
    const Json error = told.contains("params") ? told["params"]["error"] : told["error"];
    CHECK(error["code"] == 4004);
    CHECK(error["data"]["setting"] == "memory");
    if (told.contains("params")) {
      CHECK(told["params"]["end"] == true);
      CHECK(told["params"]["seq"] == 0);
    }
    client.settle();
    CHECK(budget.memory.used() == 0);
  }
}

TEST_CASE("values that wait to be polled for count in the memory until they have been sent") {
  Budget budget(std::size_t{64} << 20U);
  PollingClient client(budget.options);
  client.ask(call("1", "run_async"));
  end_with_values(client, 0);
  client.ask(call("1", "poll", R"({"wait_ms":0})"));
  faults_until(client, [&] { return budget.memory.used() > kFloats * 5; });
  const std::size_t used = budget.memory.used();
  Json polled;
  faults_until(client, [&] {
    if (!polled.contains("logits")) polled = client.polled()["result"];
    return polled.contains("logits");
  });
  CHECK(used < kFloats * 20);
  CHECK(budget.memory.used() == 0);
}

TEST_CASE("an ending that finds no room when it is polled for waits for the next poll") {
  PollingClient client;
  client.ask(call("1", "run_async"));
  client.backend.calls[0].observer->on_token(0, "Hello", 1);
  end_with_values(client, 0, kFew);
  client.settle();
  client.peer->room = 0;
  CHECK(client.polled()["error"]["code"] == 4004);
  client.peer->room = 20'000;
  CHECK(client.polled()["result"]["chunk"]["delta"] == "Hello");
  CHECK(client.polled()["error"]["code"] == 4004);
  client.peer->room = kFew * sizeof(float) + 1000;  // for the rows, but not for their text
  CHECK(client.polled()["error"]["code"] == 4004);
  CHECK(client.polled()["error"]["code"] == 4004);
  client.peer->room = 100'000;
  const Json ending = client.polled()["result"];
  CHECK(ending["chunk"]["end"] == true);
  CHECK(ending["logits"]["logits"].size() == kFew);
  CHECK(client.polled()["error"]["code"] == 4003);
}

TEST_CASE("where memory is short the text of a polled stream comes in small parts, and all of it") {
  PollingClient client;
  client.ask(call("1", "run_async"));
  const std::string text(100'000, 'x');
  client.backend.calls[0].observer->on_token(0, text, 1);
  client.backend.finish(0);
  client.settle();
  client.peer->room = 50'000;
  std::string polled;
  std::size_t polls = 0;
  for (Json chunk; !chunk.contains("end"); ++polls) {
    chunk = client.polled()["result"]["chunk"];
    polled += chunk["delta"].get<std::string>();
  }
  CHECK(polled == text);
  CHECK(polls > 2);
}

TEST_CASE("an ending that finds no room ends a stream of notifications with an error, and answers no request twice") {
  Client client;
  const Json announced = only(client.say(call("1", "run", R"({"stream":true})")));
  client.peer->sent.clear();
  client.peer->room = 2000;
  end_with_values(client, 0, kFew);
  client.settle();
  const Json told = only(client.peer->sent);
  CHECK_FALSE(told.contains("id"));
  CHECK(told["params"]["stream_id"] == announced["result"]["stream_id"]);
  CHECK(told["params"]["end"] == true);
  CHECK(told["params"]["error"]["code"] == 4004);
}

TEST_CASE("an answer with many values that cannot be sent is an error, and its request has ended") {
  Client client;
  for (const std::string method : {"run", "run_async"}) {
    INFO(method);
    client.say(call("1", method));
    client.peer->breaks = true;
    client.peer->sent.clear();
    end_with_values(client, client.backend.calls.size() - 1);
    CHECK(faults_until(client, [&] { return client.peer->sent.size() == 1; }) == 1);
    CHECK(only(client.peer->sent).contains("error"));
    client.settle();
    CHECK(client.say(call("1", method)).empty());  // the id is free
    client.backend.finish(client.backend.calls.size() - 1);
    client.settle();
  }
}

TEST_CASE("a poll that waits and cannot be answered is told so") {
  PollingClient client;
  client.ask(call("1", "run_async"));
  client.settle();
  client.ask(call("1", "poll", R"({"wait_ms":25000})"));
  client.peer->sent.clear();  // of the announcement
  client.peer->breaks = true;
  end_with_values(client, 0);
  faults_until(client, [&] { return !client.peer->sent.empty(); });
  CHECK(only(client.peer->sent)["error"]["code"] == -32603);
}

TEST_CASE("a UDP stream retains as many chunks as there is memory for, also when a longer one leaves") {
  auto options = usual_limits<Dispatcher::Options>();
  options.calls.stream_memory = MemoryBudget(std::size_t{1} << 20U);
  options.calls.retained_chunks = 4;
  Client client(options, {.transport = TransportKind::kUdp, .address = "test"});
  client.say(call("1", "run_async"));
  for (const std::size_t bytes : std::vector<std::size_t>{60'000, 50'000, 50'000, 50'000, 10}) {
    client.backend.calls[0].observer->on_token(0, std::string(bytes, 'x'), 1);
    REQUIRE(client.news().size() == 1);
  }
  CHECK(client.say(call("1", "poll", R"({"from_seq":1})")).size() == 4);
}
