#include "call/repeated_requests.hpp"

#include "runtime/fake_backend.hpp"
#include "support/catch.hpp"

#include <memory>
#include <string>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

struct RepeatingClient {
  std::shared_ptr<Reply> take(RepeatedRequests& requests, const std::string& text) {
    auto reply = std::make_shared<Reply>(*peer, "1");
    requests.add(*session, text, *reply);
    return reply;
  }
  bool repeats(RepeatedRequests& requests, const std::string& text) { return requests.repeat(*session, text, *peer); }

  std::shared_ptr<FakePeer> peer = std::make_shared<FakePeer>(TransportKind::kUdp);
  std::shared_ptr<RequestTable> table = std::make_shared<RequestTable>();
  std::shared_ptr<Session> session = std::make_shared<Session>(table);
};

using Sent = std::vector<std::string>;

}  // namespace

TEST_CASE("a repeated request is swallowed until it is answered, and then gets the same answer") {
  RepeatedRequests requests;
  RepeatingClient client;
  CHECK_FALSE(client.repeats(requests, "a"));
  const auto reply = client.take(requests, "a");
  CHECK(client.repeats(requests, "a"));
  CHECK(client.peer->sent.empty());
  reply->last("answer");
  CHECK(client.repeats(requests, "a"));
  CHECK(client.peer->sent == Sent{"answer", "answer"});
  CHECK_FALSE(client.repeats(requests, "b"));
}

TEST_CASE("a repeated request is another client's own") {
  RepeatedRequests requests;
  RepeatingClient client;
  RepeatingClient other;
  client.take(requests, "a")->last("answer");
  CHECK_FALSE(other.repeats(requests, "a"));
}

TEST_CASE("a request that was cancelled and may not be answered is not executed again either") {
  RepeatedRequests requests;
  RepeatingClient client;
  const auto reply = client.take(requests, "a");
  reply->mute();
  reply->last("answer");
  CHECK(client.repeats(requests, "a"));
  CHECK(client.peer->sent.empty());
}

TEST_CASE("a request that ends without an answer of its own is executed again") {
  RepeatedRequests requests;
  RepeatingClient client;
  client.take(requests, "a")->nothing();
  CHECK_FALSE(client.repeats(requests, "a"));
}

TEST_CASE("an answer that is kept is the one that was sent") {
  RepeatedRequests requests;
  RepeatingClient client;
  client.peer = std::make_shared<FakePeer>(
      PeerFacts{.transport = TransportKind::kUdp, .address = "test", .max_message_bytes = 200});
  client.take(requests, "a")->last(std::string(201, 'x'));
  CHECK(client.repeats(requests, "a"));
  REQUIRE(client.peer->sent.size() == 2);
  CHECK(Json::parse(client.peer->sent[0])["error"]["code"] == 4006);
  CHECK(client.peer->sent[1] == client.peer->sent[0]);
}

TEST_CASE("answers are kept for a time only") {
  RepeatedRequests requests({.kept_for = std::chrono::milliseconds(0)});
  RepeatingClient client;
  const auto running = client.take(requests, "running");
  client.take(requests, "a")->last("answer");
  CHECK_FALSE(client.repeats(requests, "a"));
  CHECK(client.repeats(requests, "running"));
  CHECK(requests.kept_bytes() == 0);
}

TEST_CASE("what a client has asked is swallowed for a while after it has gone, if it comes from where that was") {
  RepeatedRequests requests;
  RepeatingClient gone;
  gone.take(requests, "answered")->last("answer");
  const auto running = gone.take(requests, "running");
  requests.forget(*gone.session);
  RepeatingClient there;  // who is behind the same address is another session now
  CHECK(there.repeats(requests, "answered"));
  CHECK(there.repeats(requests, "running"));
  CHECK(there.peer->sent.empty());
  CHECK_FALSE(there.repeats(requests, "new"));
  RepeatingClient elsewhere;
  elsewhere.peer = std::make_shared<FakePeer>(PeerFacts{.transport = TransportKind::kUdp, .address = "elsewhere"});
  CHECK_FALSE(elsewhere.repeats(requests, "running"));
}

TEST_CASE("what clients that have gone have asked is known for a time only, and so much of it") {
  RepeatedRequests for_no_time({.known_for = std::chrono::milliseconds(0)});
  RepeatedRequests for_few({.known_requests = 2});
  for (auto* const requests : {&for_no_time, &for_few}) {
    RepeatingClient gone[3];
    for (std::size_t i = 0; i < 3; ++i) {
      gone[i].take(*requests, std::to_string(i))->last("answer");
      requests->forget(*gone[i].session);
    }
  }
  RepeatingClient there;
  for (const char* text : {"0", "1", "2"}) CHECK_FALSE(there.repeats(for_no_time, text));
  CHECK_FALSE(there.repeats(for_few, "0"));
  for (const char* text : {"1", "2"}) CHECK(there.repeats(for_few, text));
}

TEST_CASE("what is kept for one client is bounded, the oldest answers go first") {
  RepeatedRequests requests({.client_bytes = 3000});
  RepeatingClient client;
  RepeatingClient other;
  other.take(requests, "other")->last("answer");
  const auto running = client.take(requests, "running");
  for (const char* text : {"a", "b", "c"}) client.take(requests, text)->last(std::string(1000, 'x'));
  CHECK_FALSE(client.repeats(requests, "a"));
  for (const char* text : {"b", "c", "running"}) CHECK(client.repeats(requests, text));
  CHECK(other.repeats(requests, "other"));
}

TEST_CASE("what is kept counts in the server's memory, and makes room when that is used up") {
  const MemoryBudget memory(std::size_t{1} << 20U);
  RepeatedRequests requests({}, memory);
  RepeatingClient client;
  const std::string answer(100'000, 'x');
  for (const char* text : {"a", "b", "c"}) client.take(requests, text)->last(answer);
  CHECK(memory.used() == requests.kept_bytes());
  CHECK(memory.used() > 3 * answer.size());
  MemoryShare others(memory);
  others.set(memory.limit() - memory.used());
  client.take(requests, "d")->last("short");
  CHECK_FALSE(client.repeats(requests, "a"));
  CHECK(client.repeats(requests, "b"));
  CHECK(client.repeats(requests, "d"));
  CHECK(memory.used() <= memory.limit());
  requests.forget(*client.session);
  CHECK(memory.used() == others.bytes());
}

TEST_CASE("what is kept for all clients is bounded too, and goes with them") {
  RepeatedRequests requests({.bytes = 3000});
  std::vector<std::unique_ptr<RepeatingClient>> clients;
  for (int i = 0; i < 100; ++i) {
    clients.push_back(std::make_unique<RepeatingClient>());
    clients.back()->take(requests, "a")->last(std::string(1000, 'x'));
    CHECK(requests.kept_bytes() <= 3000);
  }
  CHECK_FALSE(clients[97]->repeats(requests, "a"));
  CHECK(clients[99]->repeats(requests, "a"));
  const auto running = clients[99]->take(requests, "running");
  for (const auto& client : clients) requests.forget(*client->session);
  CHECK(requests.kept_bytes() == 0);
  running->last("too late to be kept");
  CHECK(requests.kept_bytes() == 0);
}

TEST_CASE("an answer that is longer than all that may be kept is not kept") {
  RepeatedRequests requests({.client_bytes = 500});
  RepeatingClient client;
  client.take(requests, "a")->last(std::string(1000, 'x'));
  CHECK_FALSE(client.repeats(requests, "a"));
  CHECK(requests.kept_bytes() == 0);
}

TEST_CASE("a reply may be answered when nobody looks for repeated requests any more") {
  RepeatingClient client;
  auto requests = std::make_unique<RepeatedRequests>();
  const auto reply = client.take(*requests, "a");
  requests = nullptr;
  reply->last("answer");
  CHECK(client.peer->sent == Sent{"answer"});
}
