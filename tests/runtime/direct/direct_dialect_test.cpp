#include "direct/direct_dialect.hpp"

#include "jsonrpc/unread.hpp"
#include "runtime/call/call_bench.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"

#include <rkllm_mcp/errors.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

using std::chrono::milliseconds;

// A client that speaks the direct dialect.
struct DirectClient : CallBench {
  using CallBench::CallBench;

  std::shared_ptr<Reply> call(const Method& method, Json params = nullptr, Delivery delivery = Delivery::kPush,
                              const std::string& id = "1") {
    const auto kept = reply(id);
    dialect.call(method, std::move(params), *session, *kept, delivery);
    return kept;
  }
  // One without an id.
  void notify(const Method& method, Json params, Delivery delivery) {
    dialect.call(method, std::move(params), *session, *std::make_shared<Reply>(Reply::unanswered(*peer)), delivery);
  }
  std::shared_ptr<Reply> poll(const Json& params, const std::string& id = "1") { return poll(params, *session, id); }
  std::shared_ptr<Reply> poll(const Json& params, Session& whose, const std::string& id) {
    const auto kept = reply(id);
    dialect.poll(Json::parse(params.dump()), whose, *kept);  // in messages whole numbers have no sign
    return kept;
  }
  // The id of a stream that waits to be polled.
  std::string offered() {
    call(kRunAsync, nullptr, Delivery::kPoll);
    bring(0, "a");
    return told_once()["result"]["stream_id"];
  }
  const Json& params_of(std::size_t call) const { return backend.calls.at(call).request.params; }

  DirectDialect dialect{caller};
};

std::string refused_place(const std::function<void()>& action) {
  return test::error_of(action).data().value("path", "");
}

Json chunk_in(const Json& message) { return message["result"]["chunk"]; }

}  // namespace

// --- parameters -----------------------------------------------------------------------------------------------------

TEST_CASE("an array of parameters gets the names of the C parameters in their order, and null leaves one out") {
  CHECK(named_params(kPlain, nullptr) == Json::object());
  CHECK(named_params(kPlain, Json::array()) == Json::object());
  CHECK(named_params(kPlain, {{"anything", nullptr}}) == Json{{"anything", nullptr}});  // the stub says what is wrong
  CHECK(named_params(kPlain, Json::array({"llm-1", "x"})) == Json{{"handle", "llm-1"}, {"prompt", "x"}});
  CHECK(named_params(kPlain, Json::array({nullptr, Json::array({1})})) == Json{{"prompt", {1}}});
}

TEST_CASE("an array of more parameters than there are is refused with the declaration, however long it is") {
  const RpcError error = test::error_of([] { named_params(kPlain, Json::array({1, 2, 3})); });
  CHECK(error.data()["path"] == "params");
  CHECK(std::string(error.what()) ==
        "params: expected at most 2 values, in the order of int plain(void*, const char*)");
  CHECK(refused_place([] { named_params(kPlain, unread_part("[1,2,3]")); }) == "params");
}

TEST_CASE("a call gets its C parameters, and nothing that says how it is to be answered") {
  DirectClient client;
  client.call(kRun, Json{{"prompt", "x"}, {"_meta", {{"a", 1}}}, {"stream", false}, {"encoding", "base64"}});
  CHECK(client.params_of(0) == Json{{"prompt", "x"}});
  CHECK(client.backend.calls[0].request.encoding == ArrayEncoding::kBase64);
  client.call(kRun, Json{{"stream", nullptr}, {"stream_id", nullptr}, {"wait_ms", nullptr}, {"from_seq", nullptr}},
              Delivery::kPush, "2");
  CHECK(client.params_of(1) == Json::object());
}

TEST_CASE("a method that does not stream has no options of streams: they go to its stub, which knows none of them") {
  DirectClient client;
  const Json params{{"stream", true}, {"stream_id", "x"}, {"include", {"token_id"}}};
  client.call(kPlain, params);
  CHECK(client.params_of(0) == params);
  client.call(kPlain, {{"stream_id", "x"}}, Delivery::kPush, "2");
  CHECK(client.params_of(1) == Json{{"stream_id", "x"}});
}

TEST_CASE("what a call says wrongly of its stream is refused with its place, and nothing is called") {
  DirectClient client;
  CHECK(refused_place([&] { client.call(kRun, {{"stream", "yes"}}); }) == "params.stream");
  CHECK(refused_place([&] { client.call(kRun, {{"include", {"tokens"}}}); }) == "params.include[0]");
  CHECK(refused_place([&] { client.call(kRun, {{"encoding", "hex"}}); }) == "params.encoding");
  CHECK(client.backend.calls.empty());
  CHECK(client.session->active() == 0);
}

// --- who may call ---------------------------------------------------------------------------------------------------

TEST_CASE("who may not call is told so before anything is read of the call") {
  DirectClient client;
  client.session->principal = nullptr;
  CHECK(test::error_of([&] { client.call(kRun, {{"stream", "yes"}}); }).code() == ErrorCode::kUnauthorized);
  CHECK(client.backend.calls.empty());
}

TEST_CASE("a notification may be called again while it is in progress: it has no id that could be in use") {
  DirectClient client;
  for (int times = 0; times < 2; ++times) client.notify(kPlain, nullptr, Delivery::kPush);
  CHECK(client.backend.calls.size() == 2);
  client.call(kPlain);
  CHECK(test::error_of([&] { client.call(kPlain); }).code() == ErrorCode::kInvalidRequest);
}

TEST_CASE("a notification counts among the calls in progress, and is none too many") {
  auto limits = patient_limits();
  limits.requests_per_session = 1;
  DirectClient client(limits);
  client.notify(kPlain, nullptr, Delivery::kPush);
  CHECK(test::error_of([&] { client.notify(kPlain, nullptr, Delivery::kPush); }).code() == ErrorCode::kQueueFull);
  CHECK(client.backend.calls.size() == 1);
}

// --- answers --------------------------------------------------------------------------------------------------------

TEST_CASE("whether a method streams is its own to say, unless the call says so") {
  struct Case {
    const Method* method;
    Json stream;
    bool is_streamed;
  };
  for (const auto& [method, stream, is_streamed] : std::vector<Case>{{&kRun, nullptr, false},
                                                                     {&kRun, false, false},
                                                                     {&kRun, true, true},
                                                                     {&kRunAsync, nullptr, true},
                                                                     {&kRunAsync, false, false},
                                                                     {&kRunAsync, true, true}}) {
    INFO(method->name << " " << stream);
    DirectClient client;
    client.call(*method, {{"stream", stream}});
    client.told();  // perhaps the id of the stream
    client.bring(0, "a");
    CHECK(client.told().size() == (is_streamed ? 1 : 0));
  }
}

TEST_CASE("the answer of a run has its text, that of another method only what the function returned") {
  DirectClient client;
  client.call(kRun);
  client.bring(0, "a");
  client.backend.finish(0);
  CHECK(client.told_once()["result"] == Json{{"status", 0}, {"text", "a"}, {"state", "FINISH"}});
  client.call(kPlain);
  client.backend.finish(1);
  CHECK(client.told_once()["result"] == Json{{"status", 0}});
}

TEST_CASE("a call that fails is answered with its error, and a fault with an internal error") {
  DirectClient client;
  client.call(kPlain);
  client.backend.fail(0, CallFailed("plain", -1));
  CHECK(client.told_once()["error"]["code"] == ErrorCode::kCallFailed);
  client.call(kRun);
  std::exchange(client.backend.calls[1].observer, nullptr)
      ->on_done({.error = std::make_exception_ptr(std::logic_error("a fault"))});
  CHECK(client.told_once()["error"]["code"] == ErrorCode::kInternalError);
}

TEST_CASE("a notification of a run is made, and nothing of it is streamed, offered or answered") {
  for (const Delivery delivery : {Delivery::kPush, Delivery::kPoll}) {
    DirectClient client;
    client.notify(kRunAsync, nullptr, delivery);
    REQUIRE(client.backend.calls.size() == 1);
    CHECK_FALSE(client.caller.is_pushing());
    client.bring(0, "a");
    client.backend.finish(0);
    client.pass(std::chrono::hours(1));
    CHECK(client.told().empty());
    CHECK(client.session->active() == 0);
  }
}

TEST_CASE("a call whose client goes before its end is cancelled, and its end is nobody's any more") {
  for (const Delivery delivery : {Delivery::kPush, Delivery::kPoll}) {
    for (const Method* const method : {&kPlain, &kRun, &kRunAsync}) {
      INFO(method->name);
      DirectClient client;
      client.call(*method, nullptr, delivery);
      client.peer->close();
      client.session->client_gone();
      CHECK(client.backend.cancelled == std::vector<Backend::CallId>{1});
      client.backend.fail(0, cancelled());
      client.pass(std::chrono::hours(1));
      CHECK(client.session->active() == 0);
    }
  }
}

// --- polls ----------------------------------------------------------------------------------------------------------

TEST_CASE("a call of a run with nothing but a stream's id is a poll of that stream") {
  DirectClient client;
  const std::string stream_id = client.offered();
  client.call(kRunAsync, {{"stream_id", stream_id}, {"wait_ms", nullptr}, {"_meta", {{"a", 1}}}}, Delivery::kPoll, "2");
  CHECK(chunk_in(client.told_once())["delta"] == "a");
  CHECK(client.backend.calls.size() == 1);

  client.call(kRunAsync, {{"stream_id", stream_id}, {"prompt", "x"}}, Delivery::kPoll, "3");  // a call of its own
  CHECK(client.params_of(1) == Json{{"stream_id", stream_id}, {"prompt", "x"}});
}

TEST_CASE("a poll finds its stream by the request's id, or by the stream's id in whichever session") {
  DirectClient client;
  const std::string stream_id = client.offered();
  client.poll(nullptr);
  CHECK(chunk_in(client.told_once())["delta"] == "a");
  client.bring(0, "b");
  client.settle();
  client.poll({{"stream_id", stream_id}}, "7");
  const Json told = client.told_once();
  CHECK(told["id"] == 7);
  CHECK(chunk_in(told)["delta"] == "b");

  client.bring(0, "c");
  client.settle();
  const auto another = client.session->sibling();
  client.poll({{"stream_id", stream_id}}, *another, "8");
  CHECK(chunk_in(client.told_once())["delta"] == "c");
  CHECK(test::error_of([&] { client.poll(nullptr, *another, "1"); }).code() == ErrorCode::kStreamNotFound);
}

TEST_CASE("a stream that is pushed and of which nothing is retained cannot be polled") {
  DirectClient client;
  client.call(kRun, {{"stream", true}});
  const std::string stream_id = client.told_once()["result"]["stream_id"];
  CHECK(test::error_of([&] { client.poll({{"stream_id", stream_id}}); }).code() == ErrorCode::kStreamNotFound);
  CHECK(test::error_of([&] { client.poll(nullptr); }).code() == ErrorCode::kStreamNotFound);
}

TEST_CASE("a poll of what was pushed is answered by the chunks alone, from the newest if it does not say from which") {
  DirectClient client(patient_limits(), {.transport = TransportKind::kUdp, .address = "192.0.2.1:4000"});
  client.call(kRunAsync);
  std::vector<std::string> sent;
  for (const char* const text : {"a", "b"}) {
    client.bring(0, text);
    const auto told = client.told();
    sent.insert(sent.end(), told.begin(), told.end());
  }
  REQUIRE(sent.size() == 2);
  CHECK(client.poll(nullptr)->answered());
  CHECK(client.told() == std::vector<std::string>{sent[1]});
  CHECK(client.poll({{"from_seq", 0}, {"wait_ms", 1000}})->answered());
  CHECK(client.told() == sent);
}

TEST_CASE("notifications that were lost are asked for by the id of their stream") {
  DirectClient client(patient_limits(), {.transport = TransportKind::kUdp, .address = "192.0.2.1:4000"});
  client.call(kRun, {{"stream", true}});
  const std::string stream_id = client.told_once()["result"]["stream_id"];
  client.bring(0, "a");
  const auto sent = client.told();
  client.poll({{"stream_id", stream_id}, {"from_seq", 0}}, "2");
  CHECK(client.told() == sent);
}

TEST_CASE("a poll waits as long as it says, and no longer than it may") {
  auto limits = patient_limits();
  limits.poll_wait_max = milliseconds(500);
  DirectClient client(limits);
  client.offered();
  client.poll(nullptr);
  client.told();
  client.poll({{"wait_ms", 500}});
  client.pass(milliseconds(499));
  CHECK(client.told().empty());
  client.pass(milliseconds(1));
  CHECK(chunk_in(client.told_once())["delta"] == "");
  CHECK(refused_place([&] { client.poll({{"wait_ms", 501}}); }) == "params.wait_ms");
}

TEST_CASE("what a poll says in the wrong form is refused with its place, and null says nothing") {
  DirectClient client;
  client.offered();
  for (const Json& wrong : {Json(-1), Json(0.5), Json("1"), Json(true)}) {
    CHECK(refused_place([&] { client.poll({{"wait_ms", wrong}}); }) == "params.wait_ms");
    CHECK(refused_place([&] { client.poll({{"from_seq", wrong}}); }) == "params.from_seq");
  }
  CHECK(refused_place([&] { client.poll({{"from_seq", (std::uint64_t{1} << 53U) + 1}}); }) == "params.from_seq");
  client.poll({{"stream_id", nullptr}, {"wait_ms", nullptr}, {"from_seq", nullptr}, {"more", nullptr}});
  CHECK(chunk_in(client.told_once())["delta"] == "a");
}

TEST_CASE("a session is not idle while one of its polls waits, whosever stream that is") {
  DirectClient client;
  const std::string stream_id = client.offered();
  client.poll(nullptr);
  client.told();
  const auto another = client.session->sibling();
  client.poll({{"stream_id", stream_id}, {"wait_ms", 1000}}, *another, "2");
  bool is_idle = false;
  another->when_idle([&is_idle] { is_idle = true; });
  CHECK_FALSE(is_idle);
  client.bring(0, "b");
  client.settle();
  CHECK(is_idle);
}
