// Who owns a request while it is in progress, and what ends with it.
#include "call/request_table.hpp"

#include "call/session.hpp"

#include "runtime/fake_backend.hpp"
#include "support/catch.hpp"
#include "support/usual_limits.hpp"

#include <asio/io_context.hpp>

#include <functional>
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

  std::shared_ptr<Session> session() const { return std::make_shared<Session>(table); }
  // A request of the session; how it is cancelled is all that keeps `held`.
  Session::Key add(Session& session, const std::string& id, std::shared_ptr<void> held = {}) const {
    return session.add(
        {.id = id, .reply = std::make_shared<Reply>(*peer, id), .on_cancelled = [held = std::move(held)] {}}, *peer);
  }
};

ActiveCall call_named(const std::string& id, std::shared_ptr<void> held = {}) {
  return {.id = id, .on_cancelled = [held = std::move(held)] {}};
}

// What is done when nobody holds it any more.
std::shared_ptr<void> at_its_end(std::function<void()> action) {
  return {nullptr, [action = std::move(action)](void*) { action(); }};
}

std::vector<std::string> ids_of(const RequestTable& table, RequestTable::SessionNumber session) {
  std::vector<std::string> ids;
  for (const auto& [key, each] : table.of(session)) ids.push_back(each.id);
  return ids;
}

}  // namespace

TEST_CASE("the table gives each session its own requests, the oldest first") {
  RequestTable table;
  const auto first = table.new_session();
  const auto second = table.new_session();
  CHECK(first != second);
  const auto a = table.add(first, call_named("a"));
  const auto b = table.add(second, call_named("b"));
  const auto c = table.add(first, call_named("c"));
  CHECK(ids_of(table, first) == std::vector<std::string>{"a", "c"});
  CHECK(ids_of(table, second) == std::vector<std::string>{"b"});
  CHECK(ids_of(table, table.new_session()).empty());
  REQUIRE(table.find(first, c) != nullptr);
  CHECK(table.find(first, c)->id == "c");
  CHECK(table.find(first, b) == nullptr);
  CHECK(table.find(second, a) == nullptr);

  table.remove(second, a);
  CHECK(table.find(first, a) != nullptr);
  table.remove(first, a);
  table.remove(first, a);
  CHECK(table.find(first, a) == nullptr);
  table.remove_all_of(first);
  CHECK(ids_of(table, first).empty());
  CHECK(ids_of(table, second) == std::vector<std::string>{"b"});
  CHECK(table.add(second, call_named("d")) > c);  // a key is never used again
}

TEST_CASE("what a request held may remove other requests when it goes, and add further ones") {
  RequestTable table;
  const auto session = table.new_session();
  const auto other = table.new_session();
  const auto b = table.add(session, call_named("b"));
  const auto of_other = table.add(other, call_named("x"));
  const auto a = table.add(session, call_named("a", at_its_end([&] {
                                                 table.remove(session, b);
                                                 table.add(session, call_named("c"));
                                               })));
  table.remove(session, a);
  CHECK(ids_of(table, session) == std::vector<std::string>{"c"});

  table.add(session, call_named("d", at_its_end([&] { table.remove(other, of_other); })));
  table.add(session, call_named("e", at_its_end([&] { table.add(session, call_named("f")); })));
  table.remove_all_of(session);
  CHECK(ids_of(table, session).empty());
  CHECK(ids_of(table, other).empty());
}

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
  Session alone{std::weak_ptr<RequestTable>()};
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
  const auto session = std::make_shared<Session>(table, SessionOf::kManyClients);
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
