#include "call/caller.hpp"

#include "runtime/call/call_bench.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"

#include <rkllm_mcp/errors.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kQueueTime{30};
constexpr milliseconds kPollTime{60'000};
constexpr milliseconds kForLong = std::chrono::hours(24);

CallLimits with_queue_time(seconds longest) {
  auto limits = patient_limits();
  limits.queue_timeout = longest;
  return limits;
}

CallLimits with_poll_time() {
  auto limits = patient_limits();
  limits.poll_timeout = kPollTime;
  return limits;
}

PeerFacts over_udp() { return {.transport = TransportKind::kUdp, .address = "192.0.2.1:4000"}; }

Caller::Target target(const Method& method) { return {&method, Json{{"prompt", "x"}}, {}}; }

// A call whose answer is gathered, and what it has come to: the bench may end it after this has gone.
struct CollectedCall {
  struct Heard {
    int ends = 0;
    Collected collected;
  };

  explicit CollectedCall(CallBench& bench, const Method& method = kRun, CancelRule rule = {})
      : reply(bench.reply("1")),
        key(bench.caller.collect(
            *bench.session, *reply, target(method),
            [to = heard](Collected all) {
              ++to->ends;
              to->collected = std::move(all);
            },
            {}, rule)) {}

  const std::shared_ptr<Heard> heard = std::make_shared<Heard>();
  const int& ends = heard->ends;
  const Collected& collected = heard->collected;
  std::shared_ptr<Reply> reply;
  Session::Key key;
};

// The ways of a call, each by a name.
struct Way {
  const char* name;
  std::function<void(CallBench&, Reply&)> begin;
};
const std::vector<Way>& every_way() {
  static const std::vector<Way> ways{
      {"collect",
       [](CallBench& bench, Reply& reply) {
         bench.caller.collect(*bench.session, reply, target(kRun), [](const Collected&) {});
       }},
      {"push, as replies",
       [](CallBench& bench, Reply& reply) {
         bench.caller.push(*bench.session, reply, target(kRun), Caller::Chunks::kReplies);
       }},
      {"push, as notifications",
       [](CallBench& bench, Reply& reply) {
         bench.caller.push(*bench.session, reply, target(kRun), Caller::Chunks::kNotifications);
       }},
      {"offer", [](CallBench& bench, Reply& reply) { bench.caller.offer(*bench.session, reply, target(kRun)); }}};
  return ways;
}

}  // namespace

// --- what the backend is told ---------------------------------------------------------------------------------------

TEST_CASE("a backend is told whose request a call is, and how its results are wanted, whichever way they go") {
  for (const Way& way : every_way()) {
    INFO(way.name);
    CallBench bench;
    const MemoryBudget memory(1000);
    const auto reply = bench.reply("\"a\"");
    reply->set_memory(Immutable(MemoryShare(memory)));
    way.begin(bench, *reply);
    REQUIRE(bench.backend.calls.size() == 1);
    const CallRequest& request = bench.backend.calls[0].request;
    CHECK(request.method == &kRun);
    CHECK(request.params == Json{{"prompt", "x"}});
    CHECK(request.source.id == "\"a\"");
    CHECK(request.source.transport == "tcp");
    CHECK(request.source.peer == "192.0.2.1:4000");
    CHECK(request.source.holder == "owner");
    CHECK(request.memory.has_value());
    CHECK(reply->is_of_call());
    CHECK(bench.session->is_active("\"a\""));
  }
}

TEST_CASE("the call of a notification has no id, and one of somebody unknown no holder") {
  CallBench bench;
  bench.session->principal = nullptr;
  const auto muted = std::make_shared<Reply>(Reply::unanswered(*bench.peer));
  bench.caller.collect(*bench.session, *muted, target(kPlain), [](const Collected&) {});
  CHECK(bench.backend.calls.at(0).request.source.id.empty());
  CHECK(bench.backend.calls.at(0).request.source.holder.empty());
}

TEST_CASE("rows are asked for as the call wants them written") {
  CallBench bench;
  auto wanted = target(kRun);
  wanted.options.encoding = ArrayEncoding::kBase64;
  CHECK(bench.caller.writing_of(wanted.options).encoding == ArrayEncoding::kBase64);
  CHECK(bench.caller.writing_of(wanted.options).most_bytes == bench.limits.reply_bytes);
  bench.caller.push(*bench.session, *bench.reply("1"), std::move(wanted), Caller::Chunks::kReplies);
  CHECK(bench.backend.calls.at(0).request.encoding == ArrayEncoding::kBase64);
}

TEST_CASE("a call that its backend cannot take leaves nothing behind: its id is free, and nothing more is said") {
  for (const Way& way : every_way()) {
    INFO(way.name);
    CallBench bench;
    bench.backend.breaks = true;
    const auto reply = bench.reply("1");
    CHECK_THROWS_AS(way.begin(bench, *reply), std::logic_error);
    CHECK(bench.session->active() == 0);
    CHECK_FALSE(bench.caller.is_pushing());
    reply->error(RpcError(ErrorCode::kInternalError, "a fault"));
    bench.told();
    bench.pass(kForLong);
    CHECK(bench.told().empty());
    CHECK(bench.reached(Limit::kPollTimeout) == 0);
  }
}

TEST_CASE(
    "a stream tells of places and single tokens if its call wants them, and counts in the memory of all streams") {
  auto limits = patient_limits();
  limits.stream_memory = MemoryBudget(1000);
  for (const bool wants : {true, false}) {
    INFO(wants);
    CallBench bench(limits);
    auto wanted = target(kRun);
    wanted.options.queue_position = wants;
    wanted.options.keep_tokens = wants;
    bench.caller.push(*bench.session, *bench.reply("1"), std::move(wanted), Caller::Chunks::kReplies);
    bench.backend.calls[0].observer->on_queued(2);
    CHECK(bench.told().size() == (wants ? 1 : 0));
    bench.bring(0, "a");
    CHECK(limits.stream_memory.used() > 0);
    CHECK(bench.told_once()["result"]["chunk"].contains("token_id") == wants);
    CHECK(limits.stream_memory.used() == 0);
  }
}

// --- who may call, and how often ------------------------------------------------------------------------------------

TEST_CASE("loading and unloading models takes the permission admin, everything else the permission call") {
  const Principal caller{"caller", true, false};
  const Principal admin{"admin", false, true};
  Session session{std::weak_ptr<RequestTable>()};
  const auto code = [&](HandleRole role, const Principal* whose) {
    Method method = kPlain;
    method.handle = role;
    session.principal = whose;
    return refusal_of([&] { permit(session, permission_for(method)); });
  };
  for (const auto role : {HandleRole::kCreates, HandleRole::kDestroys}) {
    CHECK(code(role, &caller) == ErrorCode::kUnauthorized);
    CHECK_FALSE(code(role, &admin));
  }
  for (const auto role : {HandleRole::kNone, HandleRole::kUses}) {
    CHECK_FALSE(code(role, &caller));
    CHECK(code(role, &admin) == ErrorCode::kUnauthorized);
    CHECK(code(role, nullptr) == ErrorCode::kUnauthorized);
  }
}

TEST_CASE("a client has so many calls in progress, and the one too many is counted") {
  auto limits = patient_limits();
  limits.requests_per_session = 1;
  CallBench bench(limits);
  const auto check = [&] {
    const CallLimits& held = bench.caller.limits();
    check_quota(*bench.session, bench.reply("2")->peer(), held.requests_per_session, held.counts);
  };
  CHECK_FALSE(refusal_of(check));
  bench.caller.push(*bench.session, *bench.reply("1"), target(kRun), Caller::Chunks::kReplies);
  CHECK(refusal_of(check) == ErrorCode::kQueueFull);
  CHECK(bench.reached(Limit::kRequestsPerConnection) == 1);
  bench.backend.finish(0);
  bench.settle();
  CHECK_FALSE(refusal_of(check));
}

TEST_CASE("clients of a shared session may use one id, but for two streams from one address") {
  CallBench bench(patient_limits(), {.transport = TransportKind::kHttp, .address = "192.0.2.1:4000"},
                  SessionOf::kManyClients);
  const auto is_refused = [&](const std::shared_ptr<Reply>& reply, bool is_stream) {
    return refusal_of([&] { Caller::require_new_id(*bench.session, *reply, is_stream); }) == ErrorCode::kInvalidRequest;
  };
  const CollectedCall plain(bench, kPlain);
  CHECK_FALSE(is_refused(bench.reply("1"), false));
  CHECK_FALSE(is_refused(bench.reply("1"), true));
  bench.caller.offer(*bench.session, *bench.reply("1"), target(kRun));
  CHECK_FALSE(is_refused(bench.reply("1"), false));
  CHECK(is_refused(bench.reply("1"), true));
  CHECK_FALSE(is_refused(bench.reply("2"), true));
  const auto other = std::make_shared<FakePeer>(TransportKind::kHttp, "192.0.2.2:4000");
  CHECK_FALSE(is_refused(std::make_shared<Reply>(*other, "1"), true));
}

// --- how long a call may wait ---------------------------------------------------------------------------------------

TEST_CASE("a call that has waited too long for its handle is given up, and its error says how long that was") {
  for (const Way& way : every_way()) {
    INFO(way.name);
    CallBench each(with_queue_time(kQueueTime));
    way.begin(each, *each.reply("1"));
    each.pass(kQueueTime - milliseconds(1));
    CHECK(each.backend.given_up.empty());
    each.pass(milliseconds(1));
    CHECK(each.backend.given_up == std::vector<Backend::CallId>{1});
  }
  CallBench bench(with_queue_time(kQueueTime));
  const CollectedCall call(bench, kPlain);
  bench.pass(kQueueTime);
  REQUIRE(call.ends == 1);
  try {
    std::rethrow_exception(call.collected.outcome.error);
  } catch (const RpcError& error) {
    CHECK(error.code() == ErrorCode::kQueueFull);
    CHECK(error.data() == Json{{"timeout_s", kQueueTime.count()}});
    CHECK(std::string(error.what()).find("has waited 30 s") != std::string::npos);
  }
  CHECK(bench.session->active() == 0);
}

TEST_CASE("a call that has ended is not given up, nor one whose client was forgotten") {
  CallBench bench(with_queue_time(kQueueTime));
  const CollectedCall ended(bench);
  bench.backend.finish(0);
  bench.settle();
  REQUIRE(ended.ends == 1);
  bench.caller.push(*bench.session, *bench.reply("2"), target(kRun), Caller::Chunks::kReplies);
  bench.session.reset();
  bench.pass(kForLong);
  CHECK(bench.backend.given_up.empty());
}

TEST_CASE("a call that does not wait in the queue is not given up, nor any where calls may wait for ever") {
  Method abort = kPlain;
  abort.immediate = true;
  for (const auto& [method, longest] :
       std::vector<std::pair<const Method*, seconds>>{{&abort, kQueueTime}, {&kRun, seconds(0)}}) {
    CallBench bench(with_queue_time(longest));
    const CollectedCall call(bench, *method);
    bench.pass(kForLong);
    CHECK(bench.backend.given_up.empty());
  }
}

// --- one answer -----------------------------------------------------------------------------------------------------

TEST_CASE("whoever collects hears once, when the call has ended, and of all of it") {
  CallBench bench;
  const CollectedCall call(bench);
  bench.bring(0, "Hel");
  bench.bring(0, "lo");
  bench.settle();
  CHECK(call.ends == 0);
  bench.backend.finish(0);
  bench.pass(kForLong);
  CHECK(call.ends == 1);
  CHECK(call.collected.texts == std::vector<std::string>{"Hello"});
  CHECK(bench.session->active() == 0);
  CHECK(bench.told().empty());  // the answer is whoever's who collects
}

TEST_CASE("the key of a collected call is the one to cancel it by") {
  CallBench bench;
  const CollectedCall call(bench);
  bench.session->cancel(call.key);
  CHECK(bench.backend.cancelled == std::vector<Backend::CallId>{1});
  CHECK(bench.backend.calls[0].observer->wants_to_stop());
}

TEST_CASE("whoever follows the progress of a collected call hears its places in the queue, and of its text") {
  std::vector<std::string> steps;
  CallBench bench;
  bench.caller.collect(
      *bench.session, *bench.reply("1"), target(kRun), [](const Collected&) {},
      [&steps](const CollectReader::Step& step) {
        steps.push_back(step.queue_position ? "place " + std::to_string(*step.queue_position)
                                            : "text " + std::string(step.delta));
      });
  bench.backend.calls[0].observer->on_queued(3);
  bench.settle();
  bench.bring(0, "a");
  bench.settle();
  CHECK(steps == std::vector<std::string>{"place 3", "text a"});
}

TEST_CASE("a collected call that is cancelled is answered or not, as its rule says") {
  for (const bool answers : {true, false}) {
    INFO(answers);
    CallBench bench;
    const CollectedCall call(bench, kRun, {.answers = answers});
    bench.session->cancel_all();
    call.reply->result(Json::object());
    CHECK(bench.told().size() == (answers ? 1 : 0));
  }
}

TEST_CASE("a collected call whose HTTP exchange breaks off is cancelled, unless its rule says that it outlives it") {
  for (const bool outlives : {true, false}) {
    INFO(outlives);
    CallBench bench;
    const CollectedCall call(bench, kRun, {.outlives_exchange = outlives});
    bench.session->exchange_gone(*bench.peer);
    CHECK(bench.backend.cancelled.empty() == outlives);
  }
}

TEST_CASE("a session that is forgotten has its calls cancelled, and nobody hears what they come to") {
  for (const Way& way : every_way()) {
    INFO(way.name);
    CallBench bench;
    way.begin(bench, *bench.reply("1"));
    bench.told();
    bench.session.reset();
    CHECK(bench.backend.cancelled == std::vector<Backend::CallId>{1});
    bench.bring(0, "late");
    bench.backend.finish(0);
    bench.pass(kForLong);
    CHECK(bench.told().empty());
    CHECK_FALSE(bench.caller.is_pushing());
  }
}

// --- chunks as they come --------------------------------------------------------------------------------------------

TEST_CASE("pushed chunks repeat the request's id, or are notifications under a stream id that answers the request") {
  CallBench bench;
  bench.caller.push(*bench.session, *bench.reply("1"), target(kRun), Caller::Chunks::kReplies);
  CHECK(bench.told().empty());
  bench.bring(0, "a");
  CHECK(bench.told_once()["id"] == 1);

  bench.caller.push(*bench.session, *bench.reply("2"), target(kRun), Caller::Chunks::kNotifications);
  const Json announced = bench.told_once();
  CHECK(announced["id"] == 2);
  const std::string stream_id = announced["result"]["stream_id"];
  CHECK(bench.session->find_stream_by_stream_id(stream_id) != nullptr);
  bench.bring(1, "b");
  const Json told = bench.told_once();
  CHECK_FALSE(told.contains("id"));
  CHECK(told["params"]["stream_id"] == stream_id);

  bench.caller.push(*bench.session, *bench.reply("3"), target(kRun), Caller::Chunks::kNotifications);
  CHECK(bench.told_once()["result"]["stream_id"] != stream_id);
}

TEST_CASE("a pushed stream that has ended is retained for a client that may have lost some of it, for a time only") {
  auto limits = patient_limits();
  limits.retained_chunks = 4;
  limits.retained_for = seconds(10);
  CallBench bench(limits, over_udp());
  bench.caller.push(*bench.session, *bench.reply("1"), target(kRun), Caller::Chunks::kReplies);
  bench.pass(kForLong);  // it is the end from which on time counts
  bench.backend.finish(0);
  bench.settle();
  CHECK(bench.session->active() == 0);
  bench.pass(milliseconds(9'999));
  REQUIRE(bench.session->find_stream("1", *bench.peer) != nullptr);
  CHECK(bench.session->find_stream("1", *bench.peer)->pushed != nullptr);
  bench.pass(milliseconds(1));
  CHECK(bench.session->find_stream("1", *bench.peer) == nullptr);
}

TEST_CASE("a stream that is retained is forgotten with its session, and its time comes to nothing") {
  CallBench bench(patient_limits(), over_udp());
  bench.caller.push(*bench.session, *bench.reply("1"), target(kRun), Caller::Chunks::kReplies);
  const std::weak_ptr<CallObserver> stream = bench.backend.calls[0].observer;
  bench.backend.finish(0);
  bench.settle();
  CHECK_FALSE(stream.expired());
  bench.session.reset();
  CHECK(stream.expired());
  bench.pass(kForLong);
}

TEST_CASE("nothing of a pushed stream is retained where nothing gets lost, or none is wanted") {
  auto none = patient_limits();
  none.retained_chunks = 0;
  for (const auto& [limits, facts] : std::vector<std::pair<CallLimits, PeerFacts>>{
           {patient_limits(), {.transport = TransportKind::kTcp, .address = "192.0.2.1:4000"}}, {none, over_udp()}}) {
    CallBench bench(limits, facts);
    bench.caller.push(*bench.session, *bench.reply("1"), target(kRun), Caller::Chunks::kReplies);
    CHECK(bench.session->find_stream("1", *bench.peer) == nullptr);
    const std::weak_ptr<CallObserver> stream = bench.backend.calls[0].observer;
    bench.backend.finish(0);
    bench.settle();
    CHECK(stream.expired());
  }
}

TEST_CASE("streams are being pushed until a client that reads slowly has been sent their end") {
  CallBench bench;
  CHECK_FALSE(bench.caller.is_pushing());
  bench.caller.push(*bench.session, *bench.reply("1"), target(kRun), Caller::Chunks::kReplies);
  bench.caller.push(*bench.session, *bench.reply("2"), target(kRun), Caller::Chunks::kNotifications);
  CHECK(bench.caller.is_pushing());
  bench.backend.finish(1);
  bench.settle();
  CHECK(bench.caller.is_pushing());
  bench.peer->takes = false;
  bench.bring(0, "a");
  bench.backend.finish(0);
  bench.pass(kForLong);
  CHECK(bench.caller.is_pushing());
  bench.peer->take_again();
  bench.settle();
  CHECK_FALSE(bench.caller.is_pushing());
}

TEST_CASE("a stream that is only retained, polled or collected is not being pushed") {
  CallBench bench(patient_limits(), over_udp());
  bench.caller.offer(*bench.session, *bench.reply("1"), target(kRun));
  const CollectedCall call(bench);
  CHECK_FALSE(bench.caller.is_pushing());
  bench.caller.push(*bench.session, *bench.reply("2"), target(kRun), Caller::Chunks::kReplies);
  bench.backend.finish(2);
  bench.settle();
  REQUIRE(bench.session->find_stream("2", *bench.peer) != nullptr);
  CHECK_FALSE(bench.caller.is_pushing());
}

// --- chunks when they are asked for ---------------------------------------------------------------------------------

TEST_CASE("an offered stream is found by the id that answers its request, until its end has been told") {
  CallBench bench(with_poll_time());
  bench.caller.offer(*bench.session, *bench.reply("1"), target(kRun));
  CHECK(bench.told().empty());  // it may still fail at once
  bench.bring(0, "a");
  const Json announced = bench.told_once();
  CHECK(announced["id"] == 1);
  CHECK(announced["method"] == "run");
  CHECK(announced["result"]["poll_timeout_s"] == 60);
  const std::string stream_id = announced["result"]["stream_id"];
  const auto reader = bench.caller.registry().find(stream_id).lock();
  REQUIRE(reader != nullptr);
  REQUIRE(bench.session->find_stream("1", *bench.peer) != nullptr);
  CHECK(bench.session->find_stream("1", *bench.peer)->polled == reader.get());
  CHECK(bench.session->find_stream_by_stream_id(stream_id) != nullptr);

  bench.backend.finish(0);
  bench.settle();
  CHECK_FALSE(bench.caller.registry().find(stream_id).expired());
  reader->poll(*bench.reply("2"), milliseconds(0));
  CHECK(bench.told_once()["result"]["chunk"]["end"] == true);
  CHECK(bench.caller.registry().find(stream_id).expired());
  CHECK(bench.session->active() == 0);
  bench.pass(kForLong);
  CHECK(bench.backend.cancelled.empty());
}

TEST_CASE("where to poll for a run that takes its time is told after a moment, in which it might have failed") {
  CallBench bench;
  bench.caller.offer(*bench.session, *bench.reply("1"), target(kRun));
  bench.pass(milliseconds(1));
  CHECK(bench.told().empty());
  bench.pass(milliseconds(100));
  CHECK(bench.told_once()["result"].contains("stream_id"));
}

TEST_CASE("a run that is offered and fails at once answers its request with the error, and is not there to be polled") {
  CallBench bench;
  bench.caller.offer(*bench.session, *bench.reply("1"), target(kRun));
  const std::string stream_id = bench.session->find_stream("1", *bench.peer)->stream_id;
  CHECK_FALSE(bench.caller.registry().find(stream_id).expired());
  bench.backend.fail(0, InvalidParams("params.prompt", "missing"));
  CHECK(bench.told_once()["error"]["code"] == ErrorCode::kInvalidParams);
  CHECK(bench.caller.registry().find(stream_id).expired());
  CHECK(bench.session->active() == 0);
}

TEST_CASE("an offered stream that is not asked for in time is given away: its run is aborted, and that is counted") {
  CallBench bench(with_poll_time());
  bench.caller.offer(*bench.session, *bench.reply("1"), target(kRun));
  bench.pass(kForLong);  // nothing waits to be asked for
  const std::string stream_id = bench.told_once()["result"]["stream_id"];
  CHECK(bench.backend.cancelled.empty());
  bench.bring(0, "a");
  bench.settle();
  bench.pass(kPollTime - milliseconds(1));
  CHECK(bench.reached(Limit::kPollTimeout) == 0);
  bench.pass(milliseconds(1));
  CHECK(bench.reached(Limit::kPollTimeout) == 1);
  CHECK(bench.backend.cancelled == std::vector<Backend::CallId>{1});
  CHECK(bench.caller.registry().find(stream_id).expired());
  CHECK(bench.session->active() == 0);
  bench.bring(0, "late");
  bench.backend.finish(0);
  bench.pass(kForLong);
  CHECK(bench.told().empty());
}

TEST_CASE("a run that nobody may ever ask for stops when its buffer is full, every other one waits for its client") {
  auto limits = patient_limits();
  limits.stream_buffer_bytes = 4;
  for (const Way& way : every_way()) {
    INFO(way.name);
    CallBench bench(limits);
    way.begin(bench, *bench.reply("1"));
    auto& observer = *bench.backend.calls.at(0).observer;
    CHECK_FALSE(observer.wants_to_stop());
    bool has_room = true;
    for (int tokens = 0; tokens < 3 && has_room; ++tokens) has_room = observer.offer_token(0, "abc", 1, [] {});
    const bool is_offered = way.name == std::string("offer");
    CHECK(observer.wants_to_stop() == is_offered);
    CHECK(has_room == is_offered);
  }
}
