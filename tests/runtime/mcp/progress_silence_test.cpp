// How progress goes on while there is nothing new, on a clock that stands still until the test moves it on.
#include "mcp/tools/progress.hpp"

#include "mcp/protocol/request_responder.hpp"
#include "mcp/protocol/revisions.hpp"
#include "runtime/fake_backend.hpp"
#include "simulation/sim_bench.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

using namespace rkllm_mcp;
using namespace std::chrono_literals;

namespace {

struct QuietCall {
  QuietCall() {
    mcp::InvocationRequest request;
    request.session = session;
    request.reply = std::make_shared<Reply>(*peer, "1");
    request.client = mcp::ClientContext{mcp::find_revision("2025-11-25"), Json::object(), std::nullopt};
    request.name = "try";
    request.progress_token = "token";
    auto responder = std::make_unique<mcp::RequestResponder>(*request.reply, *request.client.revision, server);
    invocation = std::make_shared<mcp::Invocation>(std::move(request), std::move(responder), [](mcp::Invocation&) {});
    progress = mcp::Progress::start(bench.loop(), *invocation, mcp::ProgressMessage::kStatus);
    peer->sent.clear();
  }
  // How many notifications have come since the last time.
  std::size_t told() { return std::exchange(peer->sent, {}).size(); }

  simulation::SimBench bench;
  const Json server{{"name", "fake"}, {"version", "1"}};
  std::shared_ptr<test::FakePeer> peer = std::make_shared<test::FakePeer>();
  std::shared_ptr<Session> session = std::make_shared<Session>(std::weak_ptr<RequestTable>());
  std::shared_ptr<mcp::Invocation> invocation;
  std::shared_ptr<mcp::Progress> progress;
};

}  // namespace

TEST_CASE("a client hears every ten seconds that its call goes on, as long as it reads what it is sent") {
  QuietCall call;
  call.bench.pass(9s);
  CHECK(call.told() == 0);
  call.bench.pass(1s);
  CHECK(call.told() == 1);
  call.peer->takes = false;
  for (int time = 0; time < 20; ++time) call.bench.pass(10s);
  CHECK(call.told() == 0);
  call.peer->takes = true;
  call.bench.pass(10s);
  CHECK(call.told() == 1);
}

TEST_CASE("a place in the queue that a client was not told, since it did not read, breaks the silence later") {
  QuietCall call;
  call.peer->takes = false;
  call.progress->update({"", 0, 0, 3});
  call.bench.pass(10s);
  CHECK(call.told() == 0);
  call.peer->takes = true;
  call.bench.pass(10s);
  REQUIRE(call.peer->sent.size() == 1);
  CHECK(call.peer->sent[0].find("waits: 3 calls go first") != std::string::npos);
}
