// The server's end of a worker's socket: the test speaks for the worker at the other end.
#include "worker/worker_connection.hpp"

#include "backend.hpp"
#include "process/descriptor.hpp"
#include "server/worker/worker_commands.hpp"
#include "support/catch.hpp"
#include "support/few_descriptors.hpp"
#include "support/loop_thread.hpp"
#include "support/refusal.hpp"
#include "worker/frame_socket.hpp"
#include "worker/worker_process.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/method.hpp>

#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <future>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

Method called_method(std::string_view name) {
  Method method;
  method.name = name;
  return method;
}
const Method kCalled = called_method("rkllm_ask");

CallRequest asks(Json params = Json::object()) {
  CallRequest request;
  request.method = &kCalled;
  request.params = std::move(params);
  return request;
}

// Notes what it hears, and on which thread. Read once the call has returned.
class ThreadListener final : public CallObserver {
 public:
  explicit ThreadListener(std::thread::id loop) : loop_(loop) {}

  void on_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t id) noexcept override {
    note(std::to_string(batch) + std::string(text.value_or("-")) + std::to_string(id));
  }
  void on_rows(const FloatRows& rows) noexcept override { note(std::to_string(rows.rows) + "rows"); }
  void on_done(CallOutcome) noexcept override { note("done"); }
  bool wants_to_stop() const noexcept override { return had_enough; }

  bool had_enough = false;
  std::string told;

 private:
  void note(const std::string& what) {
    told += what + (std::this_thread::get_id() == loop_ ? " on the loop, " : " beside it, ");
  }

  const std::thread::id loop_;
};

// A connection, a process that is nothing but there, and a call that is made on a thread of its own.
class Connected {
 public:
  explicit Connected(const ChildProcess::Command& command = silent_worker(),
                     std::chrono::milliseconds hang = kWorkerPatience)
      : process(
            command, [this](std::string_view line) { printed.add(line); }, kWorkerPatience),
        connection(process, std::move(ends_.first), hang, loop_.loop()) {}
  ~Connected() {
    process.kill();
    worker.shut_down();
    if (call_.valid()) call_.wait();
  }

  void call(const CallRequest& request, WorkerConnection::Run* run = nullptr) {
    call_ = std::async(std::launch::async, [this, request, run] { return connection.call(request, run); });
  }
  // How it has ended.
  WorkerConnection::End end() { return call_.get(); }
  // The error that a call has ended with.
  RpcError failure() {
    return test::error_of([this] { call_.get(); });
  }
  void say_end(std::uint32_t number, std::string_view text) {
    worker.send({.type = FrameType::kEnd, .call = number}, text);
  }
  void say_token(std::uint32_t number, std::string_view text, std::int32_t id) {
    std::string content;
    append_token(content, {0, text, id});
    worker.send({.type = FrameType::kTokens, .call = number}, content);
  }
  asio::io_context& loop() { return loop_.loop(); }
  std::thread::id thread_of_loop() {
    std::promise<std::thread::id> id;
    asio::post(loop_.loop(), [&id] { id.set_value(std::this_thread::get_id()); });
    return id.get_future().get();
  }

 private:
  LoopThread loop_;
  DescriptorPair ends_ = make_stream_pair();

 public:
  Gathered printed;
  WorkerProcess process;
  FrameSocket worker{std::move(ends_.second)};
  WorkerConnection connection;

 private:
  std::future<WorkerConnection::End> call_;
};

constexpr const char* kGone = "runtime unavailable: the process that ran the model ";

}  // namespace

TEST_CASE("a call is sent with its method, how arrays are wanted and its parameters, and its end comes back") {
  Connected connected;
  CallRequest request = asks({{"a", {1, "x"}}});
  request.encoding = ArrayEncoding::kBase64;
  connected.call(request);
  const Frame frame = connected.worker.receive();
  CHECK(frame.head.type == FrameType::kCall);
  CHECK(frame.head.flags == 0);
  CHECK(frame.content == std::string("\1\11rkllm_ask") + R"({"a":[1,"x"]})");
  connected.say_end(frame.head.call, R"({"result":{"status":0},"loaded":true,"handle_values":{"n_batch":3}})");
  const auto end = connected.end();
  CHECK(end.outcome.result == Json{{"status", 0}});
  CHECK_FALSE(end.outcome.error);
  CHECK(end.loaded);
  CHECK(connected.connection.handle_values() == Model::Values{{"n_batch", 3}});
}

TEST_CASE("a worker is asked whether it is there by a call of no method") {
  Connected connected;
  auto asking = std::async(std::launch::async, [&] { connected.connection.ping(); });
  const Frame frame = connected.worker.receive();
  CHECK(frame.head.type == FrameType::kCall);
  CHECK(frame.content == std::string("\0\0{}", 4));
  connected.say_end(frame.head.call, "{}");
  CHECK_NOTHROW(asking.get());
}

TEST_CASE("each call has a number of its own, which grows, and a run has the one that it was given") {
  Connected connected;
  const auto number_of_next = [&](WorkerConnection::Run* run = nullptr) {
    connected.call(asks(), run);
    const std::uint32_t number = connected.worker.receive().head.call;
    connected.say_end(number, "{}");
    connected.end();
    return number;
  };
  const auto first = number_of_next();
  const auto second = number_of_next();
  ThreadListener listener(connected.thread_of_loop());
  WorkerConnection::Run run{connected.connection.new_number(), listener, 1, [] { return true; }};
  CHECK(first > 0);
  CHECK(second > first);
  CHECK(run.number > second);
  CHECK(number_of_next(&run) == run.number);
  CHECK(number_of_next() > run.number);
  CHECK(listener.told.empty());
}

TEST_CASE("tokens of a run are taken on the loop, rows and what follows them on the thread that makes the call") {
  Connected connected;
  ThreadListener listener(connected.thread_of_loop());
  WorkerConnection::Run run{connected.connection.new_number(), listener, 1, [] { return true; }};
  connected.call(asks(), &run);
  connected.worker.receive();
  connected.say_token(run.number, "a", 1);
  connected.say_token(run.number, "b", 2);
  const std::array<float, 2> row{1, 2};
  std::string rows;
  append_rows_head(rows, {"logits", "values", "tokens", "width", row.data(), 1, row.size()});
  rows.append(reinterpret_cast<const char*>(row.data()), sizeof row);
  connected.worker.send({.type = FrameType::kRows, .flags = kBegins, .call = run.number}, rows);
  connected.say_token(run.number, "c", 3);
  connected.say_end(run.number, R"({"state":"RKLLM_RUN_FINISH"})");
  CHECK(connected.end().outcome.state == "RKLLM_RUN_FINISH");
  CHECK(listener.told == "0a1 on the loop, 0b2 on the loop, 1rows beside it, 0c3 beside it, ");
}

TEST_CASE("tokens of a run are taken on the thread that makes the call where too many files are open") {
  Connected connected;
  ThreadListener listener(connected.thread_of_loop());
  WorkerConnection::Run run{connected.connection.new_number(), listener, 1, [] { return true; }};
  const FewDescriptors none;
  connected.call(asks(), &run);
  connected.worker.receive();
  connected.say_token(run.number, "a", 1);
  connected.say_token(run.number, "b", 2);
  connected.say_end(run.number, R"({"state":"RKLLM_RUN_FINISH"})");
  CHECK(connected.end().outcome.state == "RKLLM_RUN_FINISH");
  CHECK(listener.told == "0a1 beside it, 0b2 beside it, ");
}

TEST_CASE("an error carries the lines of errors that were printed during its call, and none from before it") {
  // Prints when it is handed a place, of which there is no use but this.
  Connected connected(
      shell("echo 'E rkllm: before'; head -c 1 <&3 >/dev/null; echo 'E rkllm: during'; "
            "echo 'I rkllm: no error'; exec cat <&3 >/dev/null"));
  REQUIRE(connected.printed.has("E rkllm: before"));
  connected.call(asks());
  const std::uint32_t number = connected.worker.receive().head.call;
  connected.process.open("");
  REQUIRE(connected.printed.has("I rkllm: no error"));
  CHECK(connected.connection.logged_errors() == std::vector<std::string>{"E rkllm: during"});
  connected.say_end(number, R"({"error":{"code":4001,"message":"it is full","data":{"status":-1}}})");
  const auto end = connected.end();
  REQUIRE(end.outcome.error);
  try {
    std::rethrow_exception(end.outcome.error);
  } catch (const RpcError& error) {
    CHECK(error.what() == std::string("it is full"));
    CHECK(error.data() == Json{{"status", -1}, {"log", Json::array({"E rkllm: during"})}});
  }
  connected.call(asks());
  connected.say_end(connected.worker.receive().head.call, "{}");
  connected.end();
  CHECK(connected.connection.logged_errors().empty());
}

TEST_CASE("the number of a run that is to stop is told at once, also while a call is in progress") {
  Connected connected;
  connected.call(asks());
  const std::uint32_t number = connected.worker.receive().head.call;
  CHECK(connected.connection.stop(77));
  const Frame frame = connected.worker.receive();
  CHECK(frame.head.type == FrameType::kStop);
  CHECK(frame.head.call == 77);
  CHECK(frame.content.empty());
  connected.say_end(number, "{}");
  CHECK_NOTHROW(connected.end());
}

TEST_CASE("who cannot tell a worker to stop a run hears so, does not wait, and can tell it later") {
  Connected connected;
  std::uint32_t told = 0;
  while (connected.connection.stop(told + 1)) ++told;
  REQUIRE(told > 0);
  for (std::uint32_t run = 1; run <= told; ++run) {
    const Frame frame = connected.worker.receive();
    if (frame.head.type != FrameType::kStop || frame.head.call != run) FAIL("something else arrived");
  }
  CHECK(connected.connection.stop(9999));
  CHECK(connected.worker.receive().head.call == 9999);
  connected.worker.shut_down();
  CHECK_FALSE(connected.connection.stop(1));
}

TEST_CASE("how a worker has ended is told to the call that it was making, and to each one after it") {
  const auto [script, reason, log] = GENERATE(table<std::string, std::string, Json>(
      {{"exit 3", "has exited with code 3", Json::array()},
       {"exit 0", "has exited with code 0", Json::array()},
       {"echo 'E rkllm: it is full'; exit 1", "has exited with code 1", Json::array({"E rkllm: it is full"})}}));
  Connected connected(shell("head -c 1 <&3 >/dev/null; " + script));
  connected.call(asks());
  connected.worker.receive();
  connected.process.open("");
  const RpcError error = connected.failure();  // although the socket stays open here
  CHECK(error.code() == ErrorCode::kRuntimeUnavailable);
  CHECK(error.what() == kGone + reason);
  CHECK(error.data() ==
        Json{{"reason", "the process that ran the model " + reason}, {"signal", nullptr}, {"log", log}});
  connected.call(asks());
  CHECK(connected.failure().what() == kGone + reason);
  try {
    connected.connection.ping();
    FAIL("a worker that is gone has answered");
  } catch (const RpcError& again) {
    CHECK(again.what() == kGone + reason);
  }
}

TEST_CASE("a worker that closes a line before its first answer, and goes on, has no room for it, and is left alone") {
  Connected connected;
  connected.call(asks());
  connected.worker.receive();
  connected.worker.shut_down();
  const RpcError error = connected.failure();
  CHECK(error.code() == ErrorCode::kRuntimeUnavailable);
  CHECK_THAT(error.what(), has_text("the worker process has no room for another model"));
  CHECK(error.data()["log"] == Json::array());
  CHECK_FALSE(connected.process.ended());
}

TEST_CASE("a worker that closes a line on which it has answered is killed") {
  Connected connected;
  connected.call(asks());
  connected.say_end(connected.worker.receive().head.call, "{}");
  connected.end();
  connected.call(asks());
  connected.worker.receive();
  connected.worker.shut_down();
  CHECK(connected.failure().what() == std::string(kGone) + "was killed by SIGKILL");
}

TEST_CASE("what a worker has said of why it cannot work is told, also if it said so before the call began") {
  Connected connected(
      shell("echo 'E rkllm: early'; echo 'E worker: there is no library'; head -c 1 <&3 >/dev/null; exit 3"));
  REQUIRE(connected.printed.has("E worker: there is no library"));
  connected.call(asks());
  connected.worker.receive();
  connected.process.open("");
  const RpcError error = connected.failure();
  CHECK(error.what() == std::string("runtime unavailable: there is no library"));
  CHECK(error.data() == Json{{"reason", "there is no library"},
                             {"signal", nullptr},
                             {"log", Json::array({"E rkllm: early", "E worker: there is no library"})}});
}

TEST_CASE("a worker that speaks of something else than its call is killed, and the call says what it was") {
  const auto [type, offset, content, complaint] = GENERATE(table<FrameType, std::uint32_t, std::string, std::string>(
      {{FrameType::kEnd, 1, "{}", "a frame of another call"},
       {FrameType::kEnd, 0, "[]", "an end that is no JSON object"},
       {FrameType::kTokens, 0, "", "tokens of a call that is no run"},
       {FrameType::kStop, 0, "", "rows of a call that is no run"}}));
  Connected connected;
  connected.call(asks());
  const std::uint32_t number = connected.worker.receive().head.call;
  connected.worker.send({.type = type, .call = number + offset}, content);
  const RpcError error = connected.failure();
  const std::string suspicion = "was killed by SIGKILL: it did not speak as it should: " + complaint;
  CHECK(error.code() == ErrorCode::kRuntimeUnavailable);
  CHECK(error.what() == kGone + suspicion);
  CHECK(error.data() ==
        Json{{"reason", "the process that ran the model " + suspicion}, {"signal", "SIGKILL"}, {"log", Json::array()}});
  REQUIRE(connected.process.ended());
  CHECK(connected.process.ended()->signal == SIGKILL);
}

TEST_CASE("nonsense in a run ends it with an error, after the tokens that came before") {
  Connected connected;
  ThreadListener listener(connected.thread_of_loop());
  WorkerConnection::Run run{connected.connection.new_number(), listener, 1, [] { return true; }};
  connected.call(asks(), &run);
  connected.worker.receive();
  connected.say_token(run.number, "a", 1);
  std::string of_another_entry;
  append_token(of_another_entry, {1, "b", 2});
  connected.worker.send({.type = FrameType::kTokens, .call = run.number}, of_another_entry);
  CHECK_THAT(connected.failure().what(), has_text("it did not speak as it should: a token of an entry that"));
  CHECK(listener.told == "0a1 on the loop, ");
}

TEST_CASE("a worker whose answer cannot be read to its end is killed, and no later call takes the rest for its own") {
  Connected connected;
  ThreadListener listener(connected.thread_of_loop());
  listener.had_enough = true;
  WorkerConnection::Run run{connected.connection.new_number(), listener, 1, []() -> bool { throw std::bad_alloc(); }};
  connected.call(asks(), &run);
  connected.worker.receive();
  connected.say_token(run.number, "a", 1);
  const RpcError error = connected.failure();
  CHECK(error.code() == ErrorCode::kRuntimeUnavailable);
  CHECK_THAT(error.what(), has_text("was killed by SIGKILL: its answer could not be taken: "));
  REQUIRE(connected.process.ended());
}

TEST_CASE("a worker that gives no sign of life for so long is killed") {
  Connected connected(silent_worker(), std::chrono::milliseconds(0));
  connected.call(asks());
  const RpcError error = connected.failure();
  CHECK(error.code() == ErrorCode::kRuntimeUnavailable);
  CHECK(error.what() == std::string(kGone) + "was killed by SIGKILL: it gave no sign of life for 0 s");
  CHECK(error.data()["signal"] == "SIGKILL");
}

TEST_CASE("a worker whose socket fails is killed, and the call says why") {
  Connected connected;
  WorkerConnection without_socket(connected.process, Descriptor(), kWorkerPatience, connected.loop());
  const RpcError error = test::error_of([&] { without_socket.ping(); });
  CHECK(error.code() == ErrorCode::kRuntimeUnavailable);
  CHECK_THAT(error.what(), has_text("was killed by SIGKILL: it cannot be spoken to: a worker's socket"));
}

TEST_CASE("a worker's end is told by its own words if it has said why it cannot work, and else by how it ended") {
  const auto [end, log, reason, signal] =
      GENERATE(table<WorkerProcess::End, std::vector<std::string>, std::string, Json>(
          {{{0, 3}, {}, "the process that ran the model has exited with code 3", nullptr},
           {{0, 3}, {"E rkllm: x"}, "the process that ran the model has exited with code 3", nullptr},
           {{0, 3}, {"E rkllm: x", "E worker: no library", "E worker: y"}, "no library", nullptr},
           {{SIGSEGV, 0}, {}, "the process that ran the model was killed by SIGSEGV", "SIGSEGV"},
           {{SIGKILL, 0}, {"E worker: x"}, "the process that ran the model was killed by SIGKILL", "SIGKILL"},
           {{64, 0}, {}, "the process that ran the model was killed by signal 64", "signal 64"}}));
  const RpcError error = worker_died(end, log);
  CHECK(error.code() == ErrorCode::kRuntimeUnavailable);
  CHECK(error.what() == "runtime unavailable: " + reason);
  CHECK(error.data() == Json{{"reason", reason}, {"signal", signal}, {"log", log}});
}
