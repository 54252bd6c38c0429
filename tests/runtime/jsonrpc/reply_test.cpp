#include "jsonrpc/reply.hpp"

#include "runtime/fake_backend.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

// A peer that notes how its requests end.
struct AnsweredPeer : FakePeer {
  using FakePeer::FakePeer;
  void expected() override { ++open; }
  void last(std::string message, std::optional<ErrorCode> error) override {
    FakePeer::last(std::move(message), error);
    errors.push_back(error);
    --open;
  }
  void none() override {
    ++unanswered;
    --open;
  }

  std::vector<std::optional<ErrorCode>> errors;  // of each last message
  int unanswered = 0;
  int open = 0;  // that will end
};

// A request with the id "seven", and what its end is told to.
struct Answering {
  explicit Answering(PeerFacts facts = {.transport = TransportKind::kTcp, .address = "test"})
      : peer(std::make_shared<AnsweredPeer>(std::move(facts))),
        reply(std::make_shared<Reply>(peer->answer(), "\"seven\"", [this] { ++finished; })) {
    reply->on_last([this](std::optional<std::string_view> text) {
      ++lasts;
      if (text) last = std::string(*text);
    });
    reply->on_answered([this](const Reply& which) {
      ++answers;
      CHECK(&which == reply.get());
      CHECK(which.answered());
    });
  }
  // Whether all who wait for the end have been told once.
  bool has_ended_once() const { return finished == 1 && lasts == 1 && answers == 1; }

  std::shared_ptr<AnsweredPeer> peer;
  std::shared_ptr<Reply> reply;
  int finished = 0;
  int lasts = 0;
  int answers = 0;
  std::optional<std::string> last;
};

PeerFacts facts_with(std::size_t max_message_bytes) {
  return {.transport = TransportKind::kUdp, .address = "test", .max_message_bytes = max_message_bytes};
}

const std::size_t kSentWithoutMemory = 1024;

}  // namespace

TEST_CASE("a request is answered by messages in their order and one last, behind which nothing is sent") {
  Answering request;
  request.reply->message("1");
  request.reply->message("2");
  CHECK_FALSE(request.reply->answered());
  CHECK(request.finished + request.lasts + request.answers == 0);
  request.reply->last("3");
  request.reply->message("4");
  request.reply->last("5");
  request.reply->result(Json::object());
  request.reply->nothing();
  CHECK(request.peer->sent == std::vector<std::string>{"1", "2", "3"});
  CHECK(request.reply->answered());
  CHECK(request.has_ended_once());
  CHECK(request.last == "3");
  CHECK(request.peer->unanswered == 0);
}

TEST_CASE("a result and an error name the request by its id, and an error also its code") {
  Answering succeeding;
  succeeding.reply->result(Json{{"status", 0}});
  CHECK(Json::parse(succeeding.peer->sent.at(0)) ==
        Json{{"jsonrpc", "2.0"}, {"id", "seven"}, {"result", {{"status", 0}}}});
  CHECK(succeeding.peer->errors == std::vector<std::optional<ErrorCode>>{std::nullopt});
  CHECK_FALSE(succeeding.reply->error_code());

  Answering failing;
  failing.reply->error(RpcError(ErrorCode::kQueueFull, "too many"));
  const Json error = Json::parse(failing.peer->sent.at(0));
  CHECK(error["id"] == "seven");
  CHECK(error["error"]["code"] == 4004);
  CHECK(failing.peer->errors == std::vector<std::optional<ErrorCode>>{ErrorCode::kQueueFull});
  CHECK(failing.reply->error_code() == ErrorCode::kQueueFull);
  CHECK(failing.has_ended_once());
}

TEST_CASE("an error that comes after the answer does not make the answer one") {
  Answering request;
  request.reply->result(Json::object());
  request.reply->error(RpcError(ErrorCode::kInternalError, "late"));
  CHECK_FALSE(request.reply->error_code());
  CHECK(request.peer->sent.size() == 1);
}

TEST_CASE("a request that ends without an answer sends none, and has no last message to be looked at") {
  Answering request;
  request.reply->nothing();
  request.reply->nothing();
  request.reply->last("late");
  CHECK(request.peer->sent.empty());
  CHECK(request.peer->unanswered == 1);
  CHECK(request.reply->answered());
  CHECK(request.has_ended_once());
  CHECK_FALSE(request.last);
}

TEST_CASE("of a muted request nothing is sent from then on, though it ends as others do") {
  Answering request;
  request.reply->message("1");
  request.reply->mute();
  request.reply->message("2");
  request.reply->result(Json::object());
  request.reply->result(Json::object());
  CHECK(request.peer->sent == std::vector<std::string>{"1"});
  CHECK(request.peer->unanswered == 1);
  CHECK(request.reply->answered());
  CHECK(request.has_ended_once());
  CHECK(request.last == "");
}

TEST_CASE("a notification is never answered") {
  const auto peer = std::make_shared<AnsweredPeer>();
  Reply reply = Reply::unanswered(peer->answer());
  CHECK(reply.id() == "null");
  CHECK(reply.muted());
  reply.message("1");
  reply.error(RpcError(ErrorCode::kInvalidParams, "wrong"));
  CHECK(peer->sent.empty());
  CHECK(peer->unanswered == 1);
  CHECK(reply.answered());
}

TEST_CASE("an answer as long as a message of its peer may be is sent, of a longer one an error with both lengths") {
  constexpr std::size_t kMost = 2000;
  Answering fitting(facts_with(kMost));
  CHECK_FALSE(fitting.reply->objection(kMost));
  fitting.reply->last(std::string(kMost, 'x'));
  CHECK(fitting.peer->sent.at(0).size() == kMost);

  Answering longer(facts_with(kMost));
  REQUIRE(longer.reply->objection(kMost + 1));
  CHECK(longer.reply->objection(kMost + 1)->code() == ErrorCode::kTooLarge);
  longer.reply->last(std::string(kMost + 1, 'x'));
  REQUIRE(longer.peer->sent.size() == 1);
  const Json error = Json::parse(longer.peer->sent[0]);
  CHECK(error["id"] == "seven");
  CHECK(error["error"]["code"] == 4006);
  CHECK(error["error"]["data"] == Json{{"bytes", kMost + 1}, {"limit", kMost}});
  CHECK(longer.peer->errors == std::vector<std::optional<ErrorCode>>{ErrorCode::kTooLarge});
  CHECK(longer.last == longer.peer->sent[0]);
  CHECK(longer.has_ended_once());
}

TEST_CASE("an answer for which there is no memory becomes an error, unless it is as short as that") {
  Answering short_one;
  short_one.peer->room = 0;
  short_one.reply->last(std::string(kSentWithoutMemory, 'x'));
  CHECK(short_one.peer->sent.at(0).size() == kSentWithoutMemory);

  Answering long_one;
  long_one.peer->room = kSentWithoutMemory;
  CHECK(long_one.reply->objection(kSentWithoutMemory + 1));
  long_one.reply->last(std::string(kSentWithoutMemory + 1, 'x'));
  CHECK(Json::parse(long_one.peer->sent.at(0))["error"]["code"] == 4004);
  CHECK(long_one.peer->errors == std::vector<std::optional<ErrorCode>>{ErrorCode::kQueueFull});

  Answering with_room;
  with_room.peer->room = kSentWithoutMemory + 1;
  CHECK_FALSE(with_room.reply->objection(kSentWithoutMemory + 1));
}

TEST_CASE("a client waits for as many ends as there are, whatever it has sent besides") {
  Answering request;
  CHECK(request.peer->open == 1);
  Reply::unanswered(request.peer->answer()).nothing();
  Reply(request.peer->answer(), "2").error(no_memory());
  CHECK(request.peer->open == 1);
  request.reply->last("1");
  CHECK(request.peer->open == 0);
  Answering muted;
  muted.reply->mute();
  muted.reply->last("1");
  CHECK(muted.peer->open == 0);
}

TEST_CASE("a last message that cannot be sent leaves the request to be answered") {
  Answering request;
  request.peer->breaks = true;
  CHECK_THROWS_AS(request.reply->last("1"), std::logic_error);
  CHECK_FALSE(request.reply->answered());
  CHECK(request.finished + request.lasts + request.answers == 0);
  request.reply->last("2");
  CHECK(request.peer->sent == std::vector<std::string>{"2"});
  CHECK(request.has_ended_once());
  CHECK(request.last == "2");
}

TEST_CASE("who hears of the end finds the last message sent, and can send no other") {
  const auto peer = std::make_shared<AnsweredPeer>();
  const auto reply = std::make_shared<Reply>(peer->answer(), "1");
  std::vector<std::string> sent_before;
  const auto end_again = [&] {
    sent_before = peer->sent;
    reply->last("again");
  };
  reply->on_finished(end_again);
  reply->last("1");
  CHECK(sent_before == std::vector<std::string>{"1"});
  CHECK(peer->sent == std::vector<std::string>{"1"});
}

TEST_CASE("a reply keeps its peer, and the memory of its request, for as long as it lives") {
  const MemoryBudget budget(1000);
  std::weak_ptr<AnsweredPeer> peer;
  std::shared_ptr<Reply> reply;
  {
    const auto kept = std::make_shared<AnsweredPeer>();
    peer = kept;
    reply = std::make_shared<Reply>(kept->answer(), "1");
    MemoryShare share(budget);
    share.set(100);
    reply->set_memory(Immutable<MemoryShare>(std::move(share)));
  }
  reply->result(Json::object());
  REQUIRE_FALSE(peer.expired());
  CHECK(&reply->peer() == peer.lock().get());
  CHECK(budget.used() == 100);
  reply.reset();
  CHECK(peer.expired());
  CHECK(budget.used() == 0);
}
