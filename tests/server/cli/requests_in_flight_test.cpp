#include "cli/bridge.hpp"

#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <vector>

using rkllm_mcp::Clock;
using rkllm_mcp::Json;
using rkllm_mcp::RequestsInFlight;
using rkllm_mcp::client::MessageFacts;

namespace {

const Clock::time_point kOverAlready = Clock::time_point::min();
const auto kAnswerPatience = std::chrono::minutes(1);

MessageFacts sent_facts(const std::vector<Json>& ids) {
  MessageFacts facts;
  facts.requests = ids;
  return facts;
}
MessageFacts answered_facts(const std::vector<Json>& ids) {
  MessageFacts facts;
  facts.answers = ids;
  return facts;
}
MessageFacts cancelled_one(const Json& id) {
  MessageFacts facts;
  facts.cancels = id;
  return facts;
}

}  // namespace

TEST_CASE("requests are in flight until they are answered, whatever their ids are") {
  RequestsInFlight requests;
  requests.note_sent(sent_facts({1, "1", "b"}));
  requests.note_received(answered_facts({"1"}));
  CHECK(requests.give_up() == std::vector<Json>{1, "b"});
  CHECK(requests.give_up().empty());
}

TEST_CASE("a request that its client has cancelled is not waited for, and a notification never is") {
  RequestsInFlight requests;
  requests.note_sent(sent_facts({1, 2}));
  requests.note_sent(cancelled_one(1));
  requests.note_sent(sent_facts({}));
  CHECK(requests.give_up() == std::vector<Json>{2});
}

TEST_CASE("answers that nobody has asked for change nothing") {
  RequestsInFlight requests;
  requests.note_sent(sent_facts({1}));
  requests.note_received(answered_facts({7, "1", nullptr}));
  CHECK(requests.give_up() == std::vector<Json>{1});
}

TEST_CASE("the wait for answers ends with the last one") {
  RequestsInFlight requests;
  requests.await_none(Clock::now() + kAnswerPatience);  // there is none
  requests.note_sent(sent_facts({1, 2}));
  auto waiting = std::async(std::launch::async, [&] { requests.await_none(Clock::now() + kAnswerPatience); });
  requests.note_received(answered_facts({1}));
  requests.note_printed();
  requests.note_received(answered_facts({2}));
  requests.note_printed();
  CHECK(waiting.wait_for(kAnswerPatience) == std::future_status::ready);
  CHECK(requests.give_up().empty());
}

TEST_CASE("an answer that has come is waited for until it is printed") {
  RequestsInFlight requests;
  requests.note_sent(sent_facts({1}));
  requests.note_received(answered_facts({1}));
  std::atomic<bool> is_printed = false;
  auto waiting = std::async(std::launch::async, [&] {
    requests.await_none(Clock::now() + kAnswerPatience);
    return is_printed.load();
  });
  is_printed = true;
  requests.note_printed();
  CHECK(waiting.get());
}

TEST_CASE("the wait for answers ends at its deadline, with what is still missing") {
  RequestsInFlight requests;
  requests.note_sent(sent_facts({1}));
  requests.await_none(kOverAlready);
  CHECK(requests.give_up() == std::vector<Json>{1});
}

TEST_CASE("who gives up ends the wait of others, and nobody waits after that") {
  RequestsInFlight requests;
  requests.note_sent(sent_facts({1}));
  auto waiting = std::async(std::launch::async, [&] { requests.await_none(Clock::now() + kAnswerPatience); });
  CHECK(requests.give_up() == std::vector<Json>{1});
  CHECK(waiting.wait_for(kAnswerPatience) == std::future_status::ready);
  requests.note_sent(sent_facts({2}));
  requests.await_none(Clock::now() + kAnswerPatience);
  CHECK(requests.give_up() == std::vector<Json>{2});
}
