#include "dispatch/dispatcher.hpp"

#include "jsonrpc/envelope.hpp"
#include "runtime/fake_client.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"
#include "support/usual_limits.hpp"

#include <asio/post.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

TEST_CASE("a plain call is answered with its result") {
  Client client;
  CHECK(client.say(call("1", "plain", R"({"prompt":"x"})")).empty());
  REQUIRE(client.backend.calls.size() == 1);
  CHECK(client.backend.calls[0].request.params == Json{{"prompt", "x"}});
  client.backend.finish(0);
  CHECK(client.news() == Texts{R"({"jsonrpc":"2.0","id":1,"result":{"status":0}})"});
}

TEST_CASE("an array of params is taken in C order") {
  Client client;
  client.say(call("1", "plain", R"([null,"x"])"));
  CHECK(client.backend.calls[0].request.params == Json{{"prompt", "x"}});
  CHECK(client.say(call("2", "plain", R"([1,2,3])"))[0].find("-32602") != std::string::npos);
}

TEST_CASE("a stream has exactly the documented messages") {
  Client client;
  client.say(call("123", "run_async"));
  client.backend.calls[0].observer->on_token(0, "Hello", 1);
  CHECK(client.news() ==
        Texts{R"({"jsonrpc":"2.0","id":123,"method":"run_async","result":{"chunk":{"seq":0,"delta":"Hello"}}})"});
  client.backend.calls[0].observer->on_token(0, " there", 2);
  client.backend.finish(0, Json{{"perf", {{"generate_tokens", 2}}}});
  CHECK(
      client.news() ==
      Texts{
          R"({"jsonrpc":"2.0","id":123,"method":"run_async","result":{"chunk":{"seq":1,"delta":" there"}}})",
          R"({"jsonrpc":"2.0","id":123,"method":"run_async","result":{"chunk":{"seq":2,"delta":"","end":true},"state":"FINISH","status":0,"perf":{"generate_tokens":2}}})"});
  CHECK(client.say(call("123", "run_async")).empty());  // nothing about the id was kept
  CHECK(client.backend.calls.size() == 2);
}

TEST_CASE("tokens that wait for a slow client join into one chunk") {
  Client client;
  client.say(call("1", "run_async"));
  client.peer->takes = false;
  for (const char* const token : {"a", "b", "c"}) client.backend.calls[0].observer->on_token(0, token, 1);
  CHECK(client.news().empty());
  client.peer->take_again();
  CHECK(client.peer->sent ==
        Texts{R"({"jsonrpc":"2.0","id":1,"method":"run_async","result":{"chunk":{"seq":0,"delta":"abc"}}})"});
}

TEST_CASE("a stream of a batch goes on when its slow client takes something again") {
  Client client;
  client.say(call("1", "initialize",
                  R"({"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}})"));
  client.say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  client.say("[" + call("2", "run_async") + "]");
  client.peer->takes = false;
  for (const char* const token : {"a", "b"}) client.backend.calls.at(0).observer->on_token(0, token, 1);
  CHECK(client.news().empty());
  client.peer->take_again();
  client.settle();
  CHECK(client.peer->sent ==
        Texts{R"({"jsonrpc":"2.0","id":2,"method":"run_async","result":{"chunk":{"seq":0,"delta":"ab"}}})"});
  client.peer->sent.clear();
  client.backend.finish(0);
  CHECK(only(client.news())[0]["result"]["chunk"]["end"] == true);
}

TEST_CASE("what a batch gathers counts in the memory, and an answer that finds no room is error 4004") {
  auto options = usual_limits<Dispatcher::Options>();
  options.memory = MemoryBudget(std::size_t{300} << 10U);
  Client client(options);
  client.say(call("1", "initialize",
                  R"({"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}})"));
  client.say("[" + call("2", "run") + "," + call("3", "run") + "," + call("4", "run") + "]");
  for (std::size_t number = 0; number < 2; ++number) {
    client.backend.calls.at(number).observer->on_token(0, std::string(200'000, 'x'), 1);
    client.backend.finish(number);
    CHECK(client.news().empty());
    CHECK(options.memory.used() > 200'000);
  }
  client.backend.finish(2);
  const Json answers = only(client.news());
  REQUIRE(answers.size() == 3);
  CHECK(answers[0]["result"]["text"].get<std::string>().size() == 200'000);
  CHECK(answers[1]["id"] == 3);
  CHECK(answers[1]["error"]["code"] == 4004);
  CHECK(answers[2]["result"]["status"] == 0);
  CHECK(options.memory.used() < 10'000);
}

TEST_CASE("a batch whose answer cannot be sent is answered with an error") {
  Client client;
  client.say(call("1", "initialize",
                  R"({"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}})"));
  client.say("[" + call("2", "plain") + "]");
  client.peer->breaks = true;
  client.backend.finish(0);
  CHECK_THROWS_AS(client.news(), std::logic_error);
  CHECK(only(client.peer->sent)["error"]["code"] == 4004);
}

TEST_CASE("what a batch has gathered is sent before its client is refused") {
  auto options = usual_limits<Dispatcher::Options>();
  const TemporaryDirectory place;
  const std::string file = place.path() + "/tokens";
  write_file(file, "somebody 0123456789abcdef\n");
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  options.tokens = AccessTokens::read(file);
  Client client(options);
  client.say(call("1", "auth", R"({"token":"0123456789abcdef"})"));
  client.say(call("2", "initialize",
                  R"({"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}})"));
  std::size_t sent_before_closing = 0;
  client.peer->when_closed([&] { sent_before_closing = client.peer->sent.size(); });
  const Json answers =
      only(client.say("[" + call("3", "auth", R"({"token":"wrong"})") + "," + call("4", "ping") + "]"));
  CHECK(sent_before_closing == 1);
  REQUIRE(answers.size() == 1);  // what comes behind is not executed
  CHECK(answers[0]["id"] == 3);
  CHECK(answers[0]["error"]["code"] == 4007);
  CHECK(client.peer->closed());
}

TEST_CASE("clients without a session of their own have their quota by address") {
  auto options = usual_limits<Dispatcher::Options>();
  options.calls.requests_per_session = 2;
  Client client(options);
  const auto shared = client.dispatcher.make_session(client.dispatcher.gate().identify(""), SessionOf::kManyClients);
  const auto ask = [&](const std::shared_ptr<FakePeer>& peer, const std::string& id, Delivery delivery) {
    peer->sent.clear();
    receive_text(client.dispatcher, call(id, "run_async"), *shared, *peer, delivery);
    client.settle();
    return !peer->sent.empty() && peer->sent[0].find("4004") != std::string::npos;
  };
  const auto greedy = std::make_shared<FakePeer>(TransportKind::kHttp, "10.0.0.1:40000");
  CHECK_FALSE(ask(greedy, "1", Delivery::kPoll));
  CHECK_FALSE(ask(greedy, "2", Delivery::kPush));
  const auto same = std::make_shared<FakePeer>(TransportKind::kHttp, "10.0.0.1:40001");
  CHECK(ask(same, "3", Delivery::kPoll));
  const auto other = std::make_shared<FakePeer>(TransportKind::kHttp, "10.0.0.2:40000");
  CHECK_FALSE(ask(other, "4", Delivery::kPoll));
  client.backend.finish(1);  // what was pushed has ended
  client.settle();
  CHECK_FALSE(ask(same, "5", Delivery::kPoll));
}

TEST_CASE("a poll that comes as the stream is about to expire saves it") {
  auto options = usual_limits<Dispatcher::Options>();
  options.calls.poll_timeout = std::chrono::milliseconds(1);
  for (int turns = 0; turns < 4; ++turns) {  // of the loop, from the expiry to the poll
    Client client(options);
    const auto http = std::make_shared<FakePeer>(TransportKind::kHttp);
    const auto session = client.dispatcher.make_session(client.dispatcher.gate().identify(""), SessionOf::kManyClients);
    receive_text(client.dispatcher, call("1", "run_async"), *session, *http, Delivery::kPoll);
    client.settle();
    std::function<void(int)> poll_after = [&](int left) {
      if (left > 0) return asio::post(client.loop, [&poll_after, left] { poll_after(left - 1); });
      receive_text(client.dispatcher, call("1", "poll"), *session, *http, Delivery::kPoll);
    };
    client.backend.calls.at(0).observer->on_token(0, "Hello", 1);
    client.settle();
    const auto expired = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    while (std::chrono::steady_clock::now() < expired) {
    }
    http->sent.clear();
    asio::post(client.loop, [&] { poll_after(turns); });
    client.settle();
    if (http->sent.empty() || http->sent[0].find("Hello") == std::string::npos) continue;  // it had expired before
    CHECK(client.backend.cancelled.empty());
  }
}

TEST_CASE("include token_id adds the ids, and tokens without text get chunks too") {
  Client client;
  client.say(call("1", "run_async", R"({"include":["token_id"]})"));
  client.backend.calls[0].observer->on_token(0, "a", 7);
  client.backend.calls[0].observer->on_token(0, std::nullopt, 8);
  CHECK(client.news() ==
        Texts{R"({"jsonrpc":"2.0","id":1,"method":"run_async","result":{"chunk":{"seq":0,"delta":"a","token_id":7}}})",
              R"({"jsonrpc":"2.0","id":1,"method":"run_async","result":{"chunk":{"seq":1,"delta":"","token_id":8}}})"});
}

TEST_CASE("a failing run ends its stream with an error under the same id") {
  Client client;
  client.say(call("1", "run_async"));
  client.backend.calls[0].observer->on_token(0, "a", 1);
  client.backend.fail(0, CallFailed("run_async", -1));
  const auto sent = client.news();
  REQUIRE(sent.size() == 2);
  CHECK(
      sent[1] ==
      R"({"jsonrpc":"2.0","id":1,"error":{"code":4001,"message":"run_async returned -1","data":{"function":"run_async","status":-1}}})");
}

TEST_CASE("stream false answers once, stream true answers with a stream id and notifications") {
  Client client;
  client.say(call("1", "run_async", R"({"stream":false})"));
  client.backend.calls[0].observer->on_token(0, "Hi", 1);
  client.backend.finish(0);
  CHECK(client.news() == Texts{R"({"jsonrpc":"2.0","id":1,"result":{"status":0,"text":"Hi","state":"FINISH"}})"});

  const auto answer = client.say(call("2", "run", R"({"stream":true})"));
  REQUIRE(answer.size() == 1);
  const Json reply = Json::parse(answer[0]);
  CHECK(reply["id"] == 2);
  const std::string stream_id = reply["result"]["stream_id"];
  CHECK(stream_id.size() >= 16);
  client.backend.calls[1].observer->on_token(0, "Hi", 1);
  CHECK(client.news() == Texts{R"({"jsonrpc":"2.0","method":"run","params":{"stream_id":")" + stream_id +
                               R"(","seq":0,"delta":"Hi","end":false}})"});
  client.backend.finish(1);
  CHECK(client.news() == Texts{R"({"jsonrpc":"2.0","method":"run","params":{"stream_id":")" + stream_id +
                               R"(","seq":1,"delta":"","end":true,"state":"FINISH","status":0}})"});
}

TEST_CASE("an id that is in use is refused until its call has ended") {
  Client client;
  client.say(call("1", "run_async"));
  CHECK(client.say(call("1", "plain"))[0].find("-32600") != std::string::npos);
  CHECK(client.backend.calls.size() == 1);
  CHECK(client.say(call("\"1\"", "plain")).empty());  // another id
}

TEST_CASE("notifications/cancelled stops the call with that id") {
  Client client;
  client.say(call("1", "run_async"));
  client.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  CHECK(client.backend.cancelled == std::vector<Backend::CallId>{1});
  CHECK(client.backend.calls[0].observer->wants_to_stop());
}

TEST_CASE("a client that closes cancels its own calls") {
  Client client;
  client.say(call("1", "run_async"));
  client.say(call("2", "run_async"));
  client.peer->close();
  CHECK(client.backend.cancelled == std::vector<Backend::CallId>{1, 2});
}

TEST_CASE("a stream whose client has gone ends and leaves nothing behind") {
  Client client;
  client.say(call("1", "run_async"));
  client.peer->takes = false;
  client.backend.calls[0].observer->on_token(0, "never read", 1);
  client.settle();
  client.peer->close();
  const std::weak_ptr<CallObserver> stream = client.backend.calls[0].observer;
  client.backend.finish(0);
  client.backend.calls.clear();
  client.settle();
  CHECK(stream.expired());
}

TEST_CASE("streams that have ended leave nothing behind with a client that stays") {
  Client client;
  std::vector<std::weak_ptr<CallObserver>> streams;
  for (std::size_t run = 0; run < 10; ++run) {
    client.say(call("1", "run_async"));
    streams.push_back(client.backend.calls[run].observer);
    client.backend.finish(run);
    REQUIRE(client.news().size() == 1);
  }
  client.backend.calls.clear();
  for (const auto& stream : streams) CHECK(stream.expired());
}

TEST_CASE("a client that has stopped sending is closed after its last answer") {
  Client client;
  client.say(call("1", "plain"));
  client.receive(EndOfInput{});
  client.settle();
  CHECK_FALSE(client.peer->closed());
  client.backend.finish(0);
  CHECK(client.news().size() == 1);
  CHECK(client.peer->closed());
}

TEST_CASE("whoever asks for it is told of the end of a client's input, and whether the client has spoken MCP") {
  struct Said {
    std::string message;
    bool is_mcp;
  };
  const Said said = GENERATE(
      Said{call("1", "ping"), false}, Said{call("1", "plain"), false}, Said{call("1", "CPU4"), false},
      Said{call("1", "no_such_method"), false}, Said{"no JSON", false}, Said{call("1", "tools/list"), true},
      Said{call("1", "ping", stateless(Json::object())), true},
      Said{call("1", "initialize",
                R"({"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}})"),
           true});
  INFO(said.message);
  Client client;
  std::vector<bool> told;
  client.receive = client.dispatcher.acceptor([&told](bool speaks_mcp) { told.push_back(speaks_mcp); })(*client.peer);
  client.say(said.message);
  CHECK(told.empty());
  client.receive(EndOfInput{});
  CHECK(told == std::vector<bool>{said.is_mcp});
}

TEST_CASE("an answer that comes over UDP is never answered, also where its sender has no token, or its id is null") {
  auto options = usual_limits<Dispatcher::Options>();
  SECTION("where no tokens are asked for") {}
  SECTION("where tokens are asked for") {
    const TemporaryDirectory place;
    const std::string file = place / "tokens";
    write_file(file, "somebody 0123456789abcdef\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_read);
    options.tokens = AccessTokens::read(file);
  }
  Client client(options, {.transport = TransportKind::kUdp, .address = "test"});
  // What a server like this one answers to what it cannot read.
  const std::string own_answer = error_message(RequestId(kNullId), no_memory());
  CHECK(client.say(own_answer).empty());
  for (const std::string id : {"null", "1", R"("x")"}) {
    CHECK(client.say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":-32700,"message":"x"}})").empty());
    CHECK(client.say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{}})").empty());
  }
  CHECK(client.say("garbage").size() == 1);  // what is no answer still gets one
}

TEST_CASE("where there are no tokens, having a connection proves a client, and an address over UDP does not") {
  for (const auto transport : {TransportKind::kTcp, TransportKind::kWebSocket, TransportKind::kUdp}) {
    Client client;
    const auto peer = std::make_shared<FakePeer>(transport, "192.0.2.1:4000");
    const auto receive = client.dispatcher.acceptor()(*peer);
    receive(call("1", "ping"));
    CHECK(peer->has_proved() == (transport != TransportKind::kUdp));
  }
}

TEST_CASE("so many calls at once and no more") {
  auto options = usual_limits<Dispatcher::Options>();
  options.calls.requests_per_session = 2;
  Client client(options);
  client.say(call("1", "plain"));
  client.say(call("2", "plain"));
  CHECK(client.say(call("3", "plain"))[0].find("4004") != std::string::npos);
}

TEST_CASE("a fact is answered by name") {
  Client client;
  CHECK(client.say(call("1", "CPU4")) == Texts{R"({"jsonrpc":"2.0","id":1,"result":{"name":"CPU4","value":16}})"});
}

TEST_CASE("an unknown method names the nearest one") {
  Client client;
  const Json error = Json::parse(client.say(call("1", "run_asinc"))[0])["error"];
  CHECK(error["code"] == -32601);
  CHECK(error["data"]["nearest"] == "run_async");
  CHECK(Json::parse(client.say(call("1", "xyzzy"))[0])["error"]["data"]["nearest"].is_null());
}

TEST_CASE("notifications are executed and never answered") {
  Client client;
  CHECK(client.say(R"({"jsonrpc":"2.0","method":"plain"})").empty());
  REQUIRE(client.backend.calls.size() == 1);
  client.backend.finish(0);
  CHECK(client.news().empty());
  CHECK(client.say(R"({"jsonrpc":"2.0","method":"no_such_thing"})").empty());
}

TEST_CASE("a reply that does not fit the transport becomes error 4006") {
  Client client(usual_limits<Dispatcher::Options>(),
                {.transport = TransportKind::kTcp, .address = "test", .max_message_bytes = 300});
  client.say(call("1", "run"));
  client.backend.calls[0].observer->on_token(0, std::string(400, 'x'), 1);
  client.backend.finish(0);
  const auto sent = client.news();
  REQUIRE(sent.size() == 1);
  CHECK(Json::parse(sent[0])["error"]["code"] == 4006);
}

TEST_CASE("a UDP client can ask for lost chunks again, the end included") {
  Client client(usual_limits<Dispatcher::Options>(), {.transport = TransportKind::kUdp, .address = "test"});
  client.say(call("1", "run_async"));
  for (const char* const token : {"a", "b"}) client.backend.calls[0].observer->on_token(0, token, 1);
  client.backend.finish(0);
  const auto sent = client.news();
  REQUIRE(sent.size() == 3);
  CHECK(client.say(call("1", "poll", R"({"from_seq":1})")) == Texts{sent[1], sent[2]});
  CHECK(client.say(call("1", "poll")) == Texts{sent[2]});
  CHECK(client.say(call("9", "poll"))[0].find("stream session not exists or expired") != std::string::npos);
}

TEST_CASE("a UDP request that comes again is executed once, whatever answers it") {
  Client client(usual_limits<Dispatcher::Options>(), {.transport = TransportKind::kUdp, .address = "test"});
  const std::string plain = call("1", "plain");
  CHECK(client.say(plain).empty());
  CHECK(client.say(plain).empty());  // still being executed
  client.backend.finish(0);
  const auto answer = client.news();
  REQUIRE(answer.size() == 1);
  CHECK(client.say(plain) == answer);
  CHECK(client.say(call("1", "plain", R"({"prompt":"x"})")).empty());  // the id is free: another request
  CHECK(client.backend.calls.size() == 2);
  client.say(call("2", "no_such_method"));
  CHECK(client.say(call("2", "no_such_method")).size() == 1);
}

TEST_CASE(
    "a UDP request that its client has repeated before it went is not executed again, and others from there are") {
  const PeerFacts facts{.transport = TransportKind::kUdp, .address = "test"};
  Client client(usual_limits<Dispatcher::Options>(), facts);
  const std::string run = call("1", "run_async");
  client.say(run);
  client.peer->close();
  client.settle();
  // A transport that has forgotten a client takes its next datagram for another one's.
  const auto next = std::make_shared<FakePeer>(facts);
  const auto receive = client.dispatcher.acceptor()(*next);
  receive(std::string_view(run));
  client.settle();
  CHECK(client.backend.calls.size() == 1);
  const std::string other = call("2", "run_async");
  receive(std::string_view(other));
  client.settle();
  CHECK(client.backend.calls.size() == 2);
  next->close();
}

TEST_CASE("a UDP stream whose request comes again starts again from the first chunk, as far as it has come") {
  Client client(usual_limits<Dispatcher::Options>(), {.transport = TransportKind::kUdp, .address = "test"});
  const std::string run = call("1", "run_async");
  CHECK(client.say(run).empty());
  // Nothing to say yet: the client learns that its request has arrived.
  CHECK(client.say(run) ==
        Texts{R"({"jsonrpc":"2.0","id":1,"method":"run_async","result":{"chunk":{"seq":0,"delta":""}}})"});
  client.backend.calls[0].observer->on_token(0, "a", 1);
  auto sent = client.news();
  client.backend.calls[0].observer->on_token(0, "b", 1);
  client.backend.finish(0);
  for (const auto& text : client.news()) sent.push_back(text);
  REQUIRE(sent.size() == 3);
  CHECK(client.say(run) == sent);
  CHECK(client.backend.calls.size() == 1);
  // Another stream takes the id over: the first one's request stays recognised, and disturbs it no more.
  client.say(call("1", "run_async", R"({"prompt":"x"})"));
  CHECK(client.say(run).empty());
  CHECK(client.backend.calls.size() == 2);
}

TEST_CASE("a UDP stream that has forgotten its first chunk does not begin in its middle") {
  auto options = usual_limits<Dispatcher::Options>();
  options.calls.retained_chunks = 2;
  Client client(options, {.transport = TransportKind::kUdp, .address = "test"});
  const std::string run = call("1", "run_async");
  client.say(run);
  for (const char* const token : {"a", "b"}) client.backend.calls[0].observer->on_token(0, token, 1);
  client.backend.finish(0);
  CHECK(client.news().size() == 3);
  CHECK(client.say(run).empty());
  const Json error = Json::parse(client.say(call("1", "poll", R"({"from_seq":0})"))[0])["error"];
  CHECK(error["code"] == 4003);
  CHECK(error["data"] == Json{{"from_seq", 0}, {"first_seq", 1}});
  CHECK(client.say(call("1", "poll", R"({"from_seq":1})")).size() == 2);
}

TEST_CASE("a UDP poll is executed as often as it comes") {
  Client client(usual_limits<Dispatcher::Options>(), {.transport = TransportKind::kUdp, .address = "test"});
  const std::string poll = call("1", "poll", R"({"from_seq":0})");
  CHECK(client.say(poll)[0].find("4003") != std::string::npos);  // overtook the request that it follows
  client.say(call("1", "run_async"));
  client.backend.calls[0].observer->on_token(0, "a", 1);
  const auto first = client.news();
  CHECK(client.say(poll) == first);
  client.backend.finish(0);
  const auto end = client.news();
  REQUIRE(end.size() == 1);
  CHECK(client.say(poll) == Texts{first[0], end[0]});
}

TEST_CASE("a request that comes again over TCP is another request") {
  Client client;
  client.say(call("1", "plain"));
  CHECK(client.say(call("1", "plain"))[0].find("-32600") != std::string::npos);
  client.backend.finish(0);
  client.news();
  client.say(call("1", "plain"));
  CHECK(client.backend.calls.size() == 2);
}

TEST_CASE("initialize agrees on a revision and never on one without a handshake") {
  Client client;
  for (const std::string asked : {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}) {
    const Json answer = Json::parse(client.say(call("1", "initialize", R"({"protocolVersion":")" + asked + "\"}"))[0]);
    CHECK(answer["result"]["protocolVersion"] == asked);
  }
  const Json newer = Json::parse(client.say(call("1", "initialize", R"({"protocolVersion":"2026-07-28"})"))[0]);
  CHECK(newer["result"]["protocolVersion"] == "2025-11-25");
  CHECK(Json::parse(client.say(call("1", "initialize"))[0])["error"]["code"] == -32602);
}

TEST_CASE("tools are listed page by page, bounded by the transport") {
  auto options = usual_limits<Dispatcher::Options>();
  options.page_items = 2;
  Client client(options);
  const Json first = Json::parse(client.say(call("1", "tools/list"))[0])["result"];
  CHECK(first["tools"].size() == 2);
  const Json second =
      Json::parse(client.say(call("1", "tools/list", Json{{"cursor", first["nextCursor"]}}.dump()))[0])["result"];
  CHECK(second["tools"].size() == 1);
  CHECK_FALSE(second.contains("nextCursor"));
  CHECK(Json::parse(client.say(call("1", "tools/list", R"({"cursor":"from-99"})"))[0])["error"]["code"] == -32602);
  Client narrow(usual_limits<Dispatcher::Options>(),
                {.transport = TransportKind::kTcp, .address = "test", .max_message_bytes = 1024});
  CHECK(Json::parse(narrow.say(call("1", "tools/list"))[0])["result"]["tools"].size() == 1);
}

TEST_CASE("a tool call answers with text and structured content") {
  Client client;
  client.say(call("1", "tools/call", R"({"name":"run","arguments":{"prompt":"x"}})"));
  client.backend.calls[0].observer->on_token(0, "Hi", 1);
  client.backend.finish(0);
  CHECK(client.news() == Texts{R"({"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Hi"}],)"
                               R"("structuredContent":{"status":0,"text":"Hi","state":"FINISH"}}})"});
}

TEST_CASE("a tool call that fails is a result that says so") {
  Client client;
  client.say(call("1", "tools/call", R"({"name":"plain"})"));
  client.backend.fail(0, InvalidParams("params.prompt", "expected string"));
  const Json result = Json::parse(client.news()[0])["result"];
  CHECK(result["isError"] == true);
  CHECK(result["content"][0]["text"] == "params.prompt: expected string");
  CHECK_FALSE(result.contains("structuredContent"));
  CHECK(Json::parse(client.say(call("2", "tools/call", R"({"name":"nope"})"))[0])["error"]["code"] == -32602);
}

TEST_CASE("progress increases strictly, carries the token, and stops with the answer") {
  Client client;
  client.say(call("1", "tools/call",
                  R"({"name":"run","arguments":{"progress_message":"delta"},"_meta":{"progressToken":"p"}})"));
  std::vector<Json> progress;
  const auto gather = [&](const Texts& sent) {
    for (const auto& text : sent) {
      Json message = Json::parse(text);
      if (message.contains("method")) progress.push_back(message["params"]);
    }
  };
  gather(client.peer->sent);
  for (const char* const token : {"a", "b", "c"}) {
    client.backend.calls[0].observer->on_token(0, token, 1);
    gather(client.news());
  }
  client.backend.finish(0);
  gather(client.news());
  REQUIRE(progress.size() == 4);
  for (std::size_t at = 1; at < progress.size(); ++at) {
    CHECK(progress[at]["progress"].get<double>() > progress[at - 1]["progress"].get<double>());
    CHECK(progress[at]["progressToken"] == "p");
  }
  CHECK(progress[3]["message"] == "c");
}

TEST_CASE("a cancelled tool call sends nothing more") {
  Client client;
  client.say(call("1", "tools/call", R"({"name":"run","_meta":{"progressToken":1}})"));
  client.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  client.backend.calls[0].observer->on_token(0, "late", 1);
  client.backend.finish(0);
  CHECK(client.news().empty());
}

TEST_CASE("a resource is listed and read, an unknown one is refused with its uri") {
  Client client;
  CHECK(Json::parse(client.say(call("1", "resources/list"))[0])["result"]["resources"][0]["uri"] == "fake://api");
  CHECK(Json::parse(client.say(
            call("1", "resources/read", R"({"uri":"fake://api"})"))[0])["result"]["contents"][0]["text"] == "{}");
  const Json error = Json::parse(client.say(call("1", "resources/read", R"({"uri":"x://y"})"))[0])["error"];
  CHECK(error["code"] == -32602);
  CHECK(error["data"]["uri"] == "x://y");
}

TEST_CASE("a fault of the server's own answers the request with -32603, and goes on to whoever runs the loop") {
  Client client;
  client.backend.breaks = true;
  for (const std::string& message :
       {call("1", "plain"), call("2", "run_async"), call("3", "tools/call", R"({"name":"plain"})")}) {
    INFO(message);
    CHECK_THROWS_AS(client.say(message), std::logic_error);
    REQUIRE(client.peer->sent.size() == 1);
    CHECK(client.peer->sent[0].find(R"("error":{"code":-32603,)") != std::string::npos);
  }
  CHECK_THROWS_AS(client.say(R"({"jsonrpc":"2.0","method":"plain"})"), std::logic_error);
  CHECK(client.peer->sent.empty());
  client.backend.breaks = false;
  client.say(call("1", "plain"));
  client.backend.finish(0);
  CHECK(client.news() == Texts{R"({"jsonrpc":"2.0","id":1,"result":{"status":0}})"});
}

TEST_CASE("a fault while a stream is sent ends that stream with -32603, and stops its run") {
  Client client;
  client.say(call("1", "run_async"));
  client.peer->breaks = true;
  client.backend.calls[0].observer->on_token(0, "Hello", 1);
  CHECK_THROWS_AS(client.news(), std::logic_error);
  CHECK(only(client.peer->sent)["error"]["code"] == -32603);
  CHECK(client.backend.calls[0].observer->wants_to_stop());
  client.backend.finish(0);
  CHECK(client.news().empty());
  client.say(call("1", "run_async"));  // nothing about the id was kept
  CHECK(client.backend.calls.size() == 2);
}

TEST_CASE("ids come back byte for byte, and are the same however they are written") {
  for (const std::string id : {"-0", "1e2", "1.0", R"("\u00e9")", R"("\/")", "123456789012345678901234567890"}) {
    INFO(id);
    Client client;
    client.say(call(id, "run_async"));
    CHECK(client.say(call(id, "run_async"))[0].find(R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":)") == 0);
    CHECK(client.say(call(id, "no_such_method"))[0].find(R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":)") == 0);
    CHECK(client.say(call(id, "tools/list"))[0].find(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)") == 0);
    client.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + id + "}}");
    CHECK(client.backend.cancelled == std::vector<Backend::CallId>{1});
    client.backend.calls[0].observer->on_token(0, "a", 1);
    client.backend.finish(0);
    for (const auto& message : client.news()) CHECK(message.find(R"({"jsonrpc":"2.0","id":)" + id + ",") == 0);
    client.say(call("9", "initialize",
                    R"({"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"x","version":"1"}})"));
    CHECK(client.say("[" + call(id, "ping") + "]") == Texts{R"([{"jsonrpc":"2.0","id":)" + id + R"(,"result":{}}])"});
  }
  Client client;
  client.say(call(R"("\u00e9")", "run_async"));
  CHECK(client.say(call("\"\xC3\xA9\"", "plain"))[0].find("-32600") != std::string::npos);
}
