#include "mcp/tools/progress.hpp"

#include "mcp/protocol/request_responder.hpp"
#include "mcp/protocol/revisions.hpp"
#include "runtime/fake_backend.hpp"
#include "support/catch.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

// An invocation whose client wants progress, and what it has been told.
struct Progressing {
  explicit Progressing(mcp::ProgressMessage kind) {
    mcp::InvocationRequest request;
    request.session = session;
    request.reply = std::make_shared<Reply>(*peer, "1");
    request.client = mcp::ClientContext{mcp::find_revision("2025-11-25"), Json::object(), std::nullopt};
    request.name = "try";
    request.progress_token = "token";
    auto responder = std::make_unique<mcp::RequestResponder>(*request.reply, *request.client.revision, server);
    invocation = std::make_shared<mcp::Invocation>(std::move(request), std::move(responder), [](mcp::Invocation&) {});
    progress = mcp::Progress::start(loop, *invocation, kind);
  }

  void update(std::string_view delta, std::uint64_t tokens, std::uint64_t limit = 0,
              std::optional<std::size_t> position = {}) {
    progress->update({delta, tokens, limit, position});
  }
  // The parameters of what has been told since the last time.
  std::vector<Json> told() {
    std::vector<Json> all;
    for (const auto& text : std::exchange(peer->sent, {})) {
      const Json message = Json::parse(text);
      CHECK(message["method"] == "notifications/progress");
      CHECK(message["params"]["progressToken"] == "token");
      const double value = message["params"]["progress"];
      CHECK(value > last_value);
      last_value = value;
      all.push_back(message["params"]);
    }
    return all;
  }
  std::vector<std::string> messages() {
    std::vector<std::string> all;
    for (const Json& params : told()) all.push_back(params.value("message", ""));
    return all;
  }

  const Json server{{"name", "fake"}, {"version", "1"}};
  double last_value = 0;
  asio::io_context loop;
  std::shared_ptr<FakePeer> peer = std::make_shared<FakePeer>();
  std::shared_ptr<Session> session = std::make_shared<Session>(std::weak_ptr<RequestTable>());
  std::shared_ptr<mcp::Invocation> invocation;
  std::shared_ptr<mcp::Progress> progress;
};

}  // namespace

TEST_CASE("a client is told at once that its call has begun, before there is a token") {
  Progressing status(mcp::ProgressMessage::kStatus);
  CHECK(status.messages() == std::vector<std::string>{"started"});
  for (const auto kind : {mcp::ProgressMessage::kDelta, mcp::ProgressMessage::kText}) {
    Progressing other(kind);
    const auto told = other.told();
    REQUIRE(told.size() == 1);
    CHECK_FALSE(told[0].contains("message"));
    CHECK_FALSE(told[0].contains("total"));
    CHECK(told[0]["progress"] < 1);
  }
}

TEST_CASE("deltas are told as they come, and joined they are the answer") {
  Progressing progressing(mcp::ProgressMessage::kDelta);
  progressing.told();
  progressing.update("a", 1);
  progressing.update("", 2);  // a token without text
  progressing.update("b\n", 3);
  const auto told = progressing.told();
  REQUIRE(told.size() == 2);
  CHECK(told[0]["message"] == "a");
  CHECK(told[0]["progress"] == 1);
  CHECK(told[1]["message"] == "b\n");
  CHECK(told[1]["progress"] == 3);
}

TEST_CASE("deltas that a client did not take are told together when it takes something again") {
  Progressing progressing(mcp::ProgressMessage::kDelta);
  progressing.told();
  progressing.peer->takes = false;
  progressing.update("a", 1);
  progressing.update("b", 2);
  CHECK(progressing.told().empty());
  progressing.peer->takes = true;
  progressing.update("", 3);
  CHECK(progressing.messages() == std::vector<std::string>{"ab"});
  progressing.update("", 4);
  CHECK(progressing.told().empty());
}

TEST_CASE("a text is told as it is so far, also what came while the client took nothing") {
  Progressing progressing(mcp::ProgressMessage::kText);
  progressing.told();
  progressing.update("a", 1);
  CHECK(progressing.messages() == std::vector<std::string>{"a"});
  progressing.peer->takes = false;
  progressing.update("b", 2);
  CHECK(progressing.told().empty());
  progressing.peer->takes = true;
  progressing.update("c", 3);
  CHECK(progressing.messages() == std::vector<std::string>{"abc"});
}

TEST_CASE("values increase, whatever is told of tokens, and the total is left out where it is unknown or passed") {
  Progressing progressing(mcp::ProgressMessage::kDelta);
  progressing.told();
  progressing.update("a", 5, 10);
  progressing.update("b", 5, 10);
  progressing.update("c", 3, 10);  // fewer than before
  progressing.update("d", 10, 10);
  progressing.update("e", 11, 10);
  progressing.update("f", 12, 0);
  const auto told = progressing.told();  // looks at the values
  REQUIRE(told.size() == 6);
  for (std::size_t at = 0; at < 4; ++at) CHECK(told[at]["total"] == 10);
  CHECK_FALSE(told[4].contains("total"));
  CHECK_FALSE(told[5].contains("total"));
  CHECK(told[0]["progress"] == 5);
  CHECK(told[1]["progress"] < 6);
  CHECK(told[3]["progress"] == 10);
}

TEST_CASE("many tokens make few statuses: no more than five a second") {
  const auto begin = std::chrono::steady_clock::now();
  Progressing progressing(mcp::ProgressMessage::kStatus);
  for (std::uint64_t token = 1; token <= 1000; ++token) progressing.update("a", token);
  const auto spent = std::chrono::steady_clock::now() - begin;
  CHECK(progressing.told().size() <= 1 + static_cast<std::size_t>(spent / std::chrono::milliseconds(200)));
}

TEST_CASE("changes of the place in the queue are told where statuses are wanted, each at once") {
  Progressing progressing(mcp::ProgressMessage::kStatus);
  progressing.told();
  progressing.update("", 0, 0, 2);
  progressing.update("", 0, 0, 1);
  progressing.update("", 0, 0, 0);
  CHECK(progressing.messages() ==
        std::vector<std::string>{"waits: 2 calls go first", "waits: 1 call goes first", "begins"});
  for (const auto kind : {mcp::ProgressMessage::kDelta, mcp::ProgressMessage::kText}) {
    Progressing other(kind);
    other.told();
    other.update("", 0, 0, 2);
    CHECK(other.told().empty());
  }
}

TEST_CASE("a client that does not read is told no places, and then the newest one") {
  Progressing progressing(mcp::ProgressMessage::kStatus);
  progressing.told();
  progressing.peer->takes = false;
  for (std::size_t place = 20; place > 0; --place) progressing.update("", 0, 0, place);
  CHECK(progressing.told().empty());
  progressing.peer->takes = true;
  progressing.update("", 0);
  CHECK(progressing.messages() == std::vector<std::string>{"waits: 1 call goes first"});
  progressing.update("", 0);
  CHECK(progressing.told().empty());
}

TEST_CASE("nothing is told once the invocation has ended, though its tool goes on") {
  Progressing progressing(mcp::ProgressMessage::kDelta);
  progressing.update("a", 1);
  progressing.invocation->result(Json::object());
  progressing.peer->sent.clear();
  progressing.update("b", 2);
  progressing.progress->stop();
  progressing.update("c", 3);
  CHECK(progressing.told().empty());
}

TEST_CASE("progress that has been stopped leaves nothing for the loop to wait for, nor does one that is gone") {
  Progressing progressing(mcp::ProgressMessage::kStatus);
  progressing.loop.poll();
  CHECK_FALSE(progressing.loop.stopped());  // it waits to break the silence
  SECTION("stopped") { progressing.progress->stop(); }
  SECTION("gone") { progressing.progress.reset(); }
  progressing.loop.run();
  CHECK(progressing.loop.stopped());
  CHECK(progressing.told().size() == 1);
}
