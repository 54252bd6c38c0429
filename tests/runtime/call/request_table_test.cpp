// Who owns a request while it is in progress, and what ends with it.
#include "call/session.hpp"

#include "runtime/fake_backend.hpp"
#include "support/catch.hpp"
#include "support/usual_limits.hpp"

#include <asio/io_context.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

struct Requests {
  std::shared_ptr<RequestTable> table = std::make_shared<RequestTable>();
  std::shared_ptr<FakePeer> peer = std::make_shared<FakePeer>(TransportKind::kTcp);

  std::shared_ptr<Session> session() const { return std::make_shared<Session>(table, false); }
  // A request of the session; how it is cancelled is all that keeps `held`.
  Session::Key add(Session& session, const std::string& id, std::shared_ptr<void> held = {}) const {
    return session.add(
        {.id = id, .reply = std::make_shared<Reply>(*peer, id), .on_cancelled = [held = std::move(held)] {}}, *peer);
  }
};

}  // namespace

TEST_CASE("a request that holds its own session keeps it until the request is removed") {
  const Requests requests;
  auto session = requests.session();
  const std::weak_ptr<Session> weak = session;
  Session& held = *session;
  const auto key = requests.add(held, "1", std::exchange(session, nullptr));
  REQUIRE_FALSE(weak.expired());
  CHECK(weak.lock()->active() == 1);
  weak.lock()->remove(key);
  CHECK(weak.expired());
}

TEST_CASE("a request that nobody has removed ends with the table, and so does the session that it holds") {
  Requests requests;
  auto session = requests.session();
  const std::weak_ptr<Session> weak = session;
  Session& held = *session;
  requests.add(held, "1", std::exchange(session, nullptr));
  requests.table.reset();
  CHECK(weak.expired());
}

TEST_CASE("a session that nobody holds takes its requests with it, and no others") {
  const Requests requests;
  const auto other = requests.session();
  const auto of_other = std::make_shared<int>();
  requests.add(*other, "1", of_other);
  const auto mine = std::make_shared<int>();
  {
    const auto session = requests.session();
    requests.add(*session, "1", mine);
    requests.add(*session, "2", mine);
    CHECK(session->active() == 2);
    CHECK(other->active() == 1);
  }
  CHECK(mine.use_count() == 1);
  CHECK(of_other.use_count() == 2);
  CHECK(other->is_active("1"));
}

TEST_CASE("one session neither sees nor cancels the requests of another") {
  std::vector<std::string> cancelled;  // sessions cancel at their end, too
  const Requests requests;
  const auto first = requests.session();
  const auto second = requests.session();
  const auto add = [&](Session& session, const std::string& id) {
    session.add({.id = id,
                 .reply = std::make_shared<Reply>(*requests.peer, id),
                 .on_cancelled = [&cancelled, id] { cancelled.push_back(id); }},
                *requests.peer);
  };
  add(*first, "1");
  add(*second, "2");
  add(*first, "3");
  CHECK_FALSE(first->is_active("2"));
  first->cancel_request(2, *requests.peer);
  CHECK(cancelled.empty());
  first->cancel_all();
  CHECK(cancelled == std::vector<std::string>{"1", "3"});
}

TEST_CASE("a session without a table, or whose table has ended, has no requests") {
  Session alone({}, false);
  const auto peer = std::make_shared<FakePeer>(TransportKind::kTcp);
  Requests requests;
  const auto session = requests.session();
  const auto key = requests.add(*session, "1");
  requests.table.reset();
  for (Session* const each : {&alone, session.get()}) {
    CHECK(each->active() == 0);
    each->add({.id = "2", .reply = std::make_shared<Reply>(*peer, "2")}, *peer);
    CHECK_FALSE(each->is_active("2"));
    each->cancel_all();
    each->cancel(key);
    each->remove(key);
  }
}

TEST_CASE(
    "in a shared session a request id is that of an address: others neither poll nor cancel it, nor must avoid it") {
  const auto table = std::make_shared<RequestTable>();
  const auto session = std::make_shared<Session>(table, true);
  const auto mine = std::make_shared<FakePeer>(TransportKind::kHttp, "192.0.2.1:4000");
  const auto again = std::make_shared<FakePeer>(TransportKind::kHttp, "192.0.2.1:4001");
  const auto other = std::make_shared<FakePeer>(TransportKind::kHttp, "192.0.2.2:4000");
  asio::io_context loop;
  const auto reader =
      StreamReader::make<PollReader>(loop, usual_limits<TokenStream::Options>(), loop, ChunkWriter::replies("1", "run"),
                                     usual_limits<PollReader::Options>(), [] {});
  bool is_cancelled = false;
  session->add({.id = "1",
                .stream_id = "s",
                .polled = reader.get(),
                .reply = std::make_shared<Reply>(*mine, "1"),
                .on_cancelled = [&is_cancelled] { is_cancelled = true; }},
               *mine);
  CHECK(session->find_stream("1", *again) != nullptr);
  CHECK(session->find_stream("1", *other) == nullptr);
  CHECK(session->find_stream_by_stream_id("s") != nullptr);
  session->cancel_request(1, *other);
  CHECK_FALSE(is_cancelled);
  session->cancel_request(1, *again);
  CHECK(is_cancelled);
}
