#include "call/session.hpp"

#include "auth/access_tokens.hpp"
#include "runtime/fake_backend.hpp"
#include "support/catch.hpp"
#include "support/usual_limits.hpp"

#include <asio/io_context.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

// A reader that is only told of its client.
struct ToldReader : StreamReader {
  explicit ToldReader(std::function<void()> gone) : gone_(std::move(gone)) {}
  void client_gone() override { gone_(); }

 protected:
  void drain() override {}
  void fail(const std::exception_ptr& /*fault*/) override {}

 private:
  std::function<void()> gone_;
};

// One session, and requests of its client.
struct OneSession {
  explicit OneSession(SessionOf clients = SessionOf::kOneClient) : session(std::make_shared<Session>(table, clients)) {}

  Session::Key add(const std::string& id, std::function<void()> on_cancelled = {}) {
    return session->add({.id = id, .reply = reply(id), .on_cancelled = std::move(on_cancelled)}, *peer);
  }
  // A call of the backend, under this number.
  std::shared_ptr<ToldReader> add_run(const std::string& id, Backend::CallId number, std::function<void()> gone = {}) {
    auto reader = StreamReader::make<ToldReader>(
        loop, usual_limits<TokenStream::Options>(), gone ? std::move(gone) : [] {});
    keys.push_back(session->add({.id = id, .call = number, .reader = reader, .reply = reply(id)}, *peer));
    return reader;
  }
  std::shared_ptr<Reply> reply(const std::string& id) const { return std::make_shared<Reply>(*peer, id); }

  std::vector<std::string> events;  // the end of the session may add to them
  asio::io_context loop;
  FakeBackend backend;
  std::shared_ptr<RequestTable> table = std::make_shared<RequestTable>(&backend);
  std::shared_ptr<FakePeer> peer = std::make_shared<FakePeer>(TransportKind::kTcp, "192.0.2.1:4000");
  std::shared_ptr<Session> session;
  std::vector<Session::Key> keys;
};

}  // namespace

TEST_CASE("a call is in progress from its beginning until it is removed or only retained") {
  OneSession one;
  const auto first = one.add("1");
  const auto second = one.add("2");
  CHECK(one.session->active() == 2);
  CHECK(one.session->is_active("1"));
  one.session->retain(first);
  CHECK(one.session->active() == 1);
  CHECK_FALSE(one.session->is_active("1"));
  one.session->remove(second);
  one.session->remove(second);
  one.session->retain(second);
  CHECK(one.session->active() == 0);
}

TEST_CASE("clients of a shared session have their calls counted by host, whatever their ports") {
  OneSession one(SessionOf::kManyClients);
  const auto again = std::make_shared<FakePeer>(TransportKind::kHttp, "192.0.2.1:4001");
  const auto near = std::make_shared<FakePeer>(TransportKind::kHttp, "192.0.2.10:4000");
  const auto six = std::make_shared<FakePeer>(TransportKind::kHttp, "[2001:db8::1]:4000");
  const auto key = one.add("1");
  one.session->add({.id = "1", .reply = std::make_shared<Reply>(*six, "1")}, *six);
  one.session->add({.id = "2", .reply = std::make_shared<Reply>(*six, "2")}, *six);
  CHECK(one.session->active_of(*one.peer) == 1);
  CHECK(one.session->active_of(*again) == 1);
  CHECK(one.session->active_of(*near) == 0);
  CHECK(one.session->active_of(*six) == 2);
  one.session->retain(key);
  CHECK(one.session->active_of(*again) == 0);
  CHECK(one.session->active() == 2);
}

TEST_CASE("a stream that is retained is found until its id is used again") {
  OneSession one;
  const auto pushed = StreamReader::make<PushReader>(one.loop, usual_limits<TokenStream::Options>(), *one.reply("1"),
                                                     ChunkWriter::replies("1", "run"), PushReader::Options{});
  const auto reply = one.reply("1");
  const auto key = one.session->add({.id = "1", .reader = pushed, .pushed = pushed.get(), .reply = reply}, *one.peer);
  one.session->retain(key);
  REQUIRE(one.session->find_stream("1", *one.peer) != nullptr);
  CHECK(one.session->find_stream("1", *one.peer)->pushed == pushed.get());
  CHECK(one.session->stream_of(*reply) == pushed.get());
  CHECK(one.session->stream_of(*one.reply("1")) == nullptr);
  CHECK(one.session->find_stream(R"("1")", *one.peer) == nullptr);
  one.add("2");
  CHECK(one.session->find_stream("1", *one.peer) != nullptr);
  one.add("1");
  CHECK(one.session->find_stream("1", *one.peer) == nullptr);
  CHECK(one.session->stream_of(*reply) == nullptr);
}

TEST_CASE("a stream that is retained makes way for a request whose id is the same, written otherwise") {
  OneSession one;
  const auto polled = [&] {
    return StreamReader::make<PollReader>(one.loop, usual_limits<TokenStream::Options>(), one.loop,
                                          ChunkWriter::replies("1", "run"), usual_limits<PollReader::Options>(), [] {});
  };
  const auto older = polled();
  const auto newer = polled();
  one.session->retain(one.session->add({.id = R"("\u0061")", .reader = older, .polled = older.get()}, *one.peer));
  one.session->add({.id = R"("a")", .reader = newer, .polled = newer.get()}, *one.peer);
  REQUIRE(one.session->find_stream(R"("a")", *one.peer) != nullptr);
  CHECK(one.session->find_stream(R"("a")", *one.peer)->polled == newer.get());
}

TEST_CASE("of very many calls that have ended the oldest are retained no more, and those in progress stay") {
  OneSession one;
  const auto mark = std::make_shared<int>();
  const auto held = [&](const std::string& id) { return one.add(id, [mark] {}); };
  const auto in_progress = held("0");
  std::vector<std::weak_ptr<int>> ended;
  for (int id = 1; id <= 200; ++id) {
    auto own = std::make_shared<int>(id);
    ended.emplace_back(own);
    one.session->retain(one.add(std::to_string(id), [own] {}));
  }
  CHECK(one.session->active() == 1);
  CHECK(mark.use_count() == 2);
  CHECK(ended.front().expired());
  CHECK_FALSE(ended.back().expired());
  std::size_t retained = 0;
  for (std::size_t at = 0; at < ended.size(); ++at) {
    if (!ended[at].expired()) ++retained;
    if (at > 0) CHECK(ended[at].expired() <= ended[at - 1].expired());
  }
  CHECK(retained == 64);
  one.session->remove(in_progress);
  CHECK(mark.use_count() == 1);
}

TEST_CASE("who waits for a session to be idle is called once, when the last call has ended or is only retained") {
  OneSession one;
  int calls = 0;
  one.session->when_idle([&calls] { ++calls; });
  CHECK(calls == 1);
  const auto first = one.add("1");
  const auto second = one.add("2");
  one.session->when_idle([&calls] { ++calls; });
  one.session->remove(first);
  CHECK(calls == 1);
  one.session->retain(second);
  CHECK(calls == 2);
  one.session->remove(second);
  one.session->remove(one.add("3"));
  CHECK(calls == 2);
}

TEST_CASE("a session is not idle while something holds it, whichever copy that is, and holds may outlive it") {
  OneSession one;
  int calls = 0;
  auto hold = std::make_unique<Session::Hold>(*one.session);
  auto copy = std::make_unique<Session::Hold>(*hold);
  auto moved = std::make_unique<Session::Hold>(std::move(*hold));
  one.session->when_idle([&calls] { ++calls; });
  hold.reset();
  copy.reset();
  CHECK(calls == 0);
  SECTION("the last one goes") {
    moved.reset();
    CHECK(calls == 1);
  }
  SECTION("a call goes on") {
    const auto key = one.add("1");
    moved.reset();
    CHECK(calls == 0);
    one.session->remove(key);
    CHECK(calls == 1);
  }
  SECTION("the session goes") {
    one.session.reset();
    const Session::Hold another(*moved);
    moved.reset();
    CHECK(calls == 0);
  }
}

TEST_CASE("a run that is cancelled is stopped, and its backend told, once for each time, until it has ended") {
  OneSession one;
  const auto reader = one.add_run("1", 7);
  CHECK_FALSE(reader->stream()->wants_to_stop());
  one.session->cancel(one.keys[0]);
  CHECK(reader->stream()->wants_to_stop());
  CHECK(one.backend.cancelled == std::vector<Backend::CallId>{7});
  CHECK(one.session->is_active("1"));  // until its outcome has come
  one.session->retain(one.keys[0]);
  one.session->cancel(one.keys[0]);
  one.session->cancel_all();
  CHECK(one.backend.cancelled.size() == 1);
  one.session->remove(one.keys[0]);
  one.session->cancel(one.keys[0]);
  CHECK(one.backend.cancelled.size() == 1);
}

TEST_CASE("a call that has begun is cancelled under the number that its backend has given it") {
  OneSession one;
  one.add_run("1", 0);
  one.session->started(one.keys[0], 5, nullptr);
  one.session->cancel(one.keys[0]);
  CHECK(one.backend.cancelled == std::vector<Backend::CallId>{5});
}

TEST_CASE("how long a call may wait is looked at no more when it has ended, or is none of the session's") {
  OneSession one;
  const auto limit = [&](const std::string& name) {
    auto timer = std::make_unique<Timer>(one.loop, std::chrono::hours(1));
    timer->async_wait([&one, name](const asio::error_code& error) { one.events.push_back(error ? name : "late"); });
    return timer;
  };
  const auto removed = one.add("1");
  const auto retained = one.add("2");
  one.session->started(removed, 1, limit("removed"));
  one.session->started(retained, 2, limit("retained"));
  one.session->started(removed + 100, 3, limit("unknown"));
  one.session->remove(removed);
  one.session->retain(retained);
  one.loop.run();  // to its end: nothing waits any more
  CHECK(one.events.size() == 3);
  CHECK(std::find(one.events.begin(), one.events.end(), "late") == one.events.end());
}

TEST_CASE("a request that is cancelled may take itself and others out of the session") {
  OneSession one;
  for (const std::string id : {"1", "2", "3"}) {
    one.keys.push_back(one.add(id, [&one, id] {
      one.events.push_back(id);
      for (const auto key : one.keys) one.session->remove(key);
    }));
  }
  one.session->cancel_all();
  CHECK(one.events == std::vector<std::string>{"1"});
  CHECK(one.session->active() == 0);
}

TEST_CASE("a request of MCP that is cancelled is not answered, one of the direct dialect is") {
  OneSession one;
  const auto silent = one.reply("1");
  const auto answered = one.reply("2");
  one.session->add({.id = "1", .reply = silent, .answers_when_cancelled = false}, *one.peer);
  one.session->add({.id = "2", .reply = answered}, *one.peer);
  one.session->cancel_all();
  silent->result(Json::object());
  answered->result(Json::object());
  REQUIRE(one.peer->sent.size() == 1);
  CHECK(Json::parse(one.peer->sent[0])["id"] == 2);
}

TEST_CASE("a client cancels by the value of an id, of which a text and a number differ, and no other") {
  OneSession one;
  for (const std::string id : {"1", R"("1")", R"("\u00e9")", "12345678901234567890123"}) {
    one.add(id, [&one, id] { one.events.push_back(id); });
  }
  for (const Json& unknown : {Json(nullptr), Json(2), Json("2"), Json::object(), Json::array({1}), Json(true)}) {
    one.session->cancel_request(unknown, *one.peer);
  }
  CHECK(one.events.empty());
  one.session->cancel_request("1", *one.peer);
  one.session->cancel_request("\xC3\xA9", *one.peer);
  CHECK(one.events == std::vector<std::string>{R"("1")", R"("\u00e9")"});
}

TEST_CASE("when a client has gone its calls are cancelled, and the readers hear of it that are still there") {
  OneSession one;
  one.add_run("1", 1, [&] {
    one.events.emplace_back("1");
    for (const auto key : one.keys) one.session->remove(key);
  });
  one.add_run("2", 2, [&one] { one.events.emplace_back("2"); });
  one.session->client_gone();
  CHECK(one.backend.cancelled == std::vector<Backend::CallId>{1, 2});
  CHECK(one.events == std::vector<std::string>{"1"});
}

TEST_CASE(
    "an exchange that breaks off cancels its own calls, but for those that outlive it, whose readers hear of it") {
  OneSession one;
  const auto exchange = std::make_shared<FakePeer>(TransportKind::kHttp);
  const auto add = [&](const std::string& id, Backend::CallId number, FakePeer& peer, bool outlives) {
    const auto reader = StreamReader::make<ToldReader>(one.loop, usual_limits<TokenStream::Options>(),
                                                       [&one, id] { one.events.push_back(id); });
    one.session->add({.id = id,
                      .call = number,
                      .reader = reader,
                      .reply = std::make_shared<Reply>(peer, id),
                      .outlives_exchange = outlives},
                     peer);
  };
  add("1", 1, *exchange, false);
  add("2", 2, *exchange, true);
  add("3", 3, *one.peer, false);
  one.session->exchange_gone(*exchange);
  CHECK(one.backend.cancelled == std::vector<Backend::CallId>{1});
  CHECK(one.events == std::vector<std::string>{"1", "2"});
}

TEST_CASE("the end of a session cancels what it has in progress") {
  OneSession one;
  const auto reader = one.add_run("1", 7);
  one.session.reset();
  CHECK(one.backend.cancelled == std::vector<Backend::CallId>{7});
  CHECK(reader->stream()->wants_to_stop());
}

TEST_CASE("a sibling is of the same client, and has nothing in progress") {
  OneSession one(SessionOf::kManyClients);
  const Principal owner{"owner", true, true};
  one.session->principal = &owner;
  one.add("1");
  const auto sibling = one.session->sibling();
  CHECK(sibling->principal == &owner);
  CHECK(sibling->shared());
  CHECK(sibling->active() == 0);
  sibling->cancel_all();
  CHECK(one.session->active() == 1);
}
