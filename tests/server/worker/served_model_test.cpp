// A model as its worker serves it: a server is played at the other ends of its two sockets, and a model inside.
#include "worker/served_model.hpp"

#include "backend/engine.hpp"
#include "clock.hpp"
#include "jsonrpc/unread.hpp"
#include "process/descriptor.hpp"
#include "server/worker/worker_commands.hpp"
#include "support/catch.hpp"
#include "worker/frame.hpp"
#include "worker/frame_socket.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/method.hpp>

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <limits>
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

Method served_method(std::string_view name, HandleRole role, bool streams = false) {
  Method method;
  method.name = name;
  method.handle = role;
  method.streams = streams;
  return method;
}

const std::array<Method, 6> kServedMethods{
    served_method("init", HandleRole::kCreates),   served_method("destroy", HandleRole::kDestroys),
    served_method("run", HandleRole::kUses, true), served_method("plain", HandleRole::kUses),
    served_method("ask", HandleRole::kUses),       served_method("version", HandleRole::kNone)};

// Opens once, and keeps whoever passes waiting until then.
class Gate {
 public:
  void open() {
    if (!is_open_) opening_.set_value();
    is_open_ = true;
  }
  void pass() const { opened_.wait(); }

 private:
  std::promise<void> opening_;
  const std::shared_future<void> opened_ = opening_.get_future().share();
  bool is_open_ = false;  // belongs to the test's thread
};

struct Made;

// What the played model does, and what has been asked of it.
struct Played {
  std::function<CallOutcome(const Made&)> act;  // in each call, after it was noted
  Gathered asked;
  Gate gate;
};

// A call that is being made.
struct Made {
  const CallRequest& request;
  CallObserver* observer;  // of a run
  Played& played;

  bool is(std::string_view method) const { return request.method->name == method; }
};

CallOutcome succeeds_with(Json result) {
  CallOutcome outcome;
  outcome.result = std::move(result);
  return outcome;
}
CallOutcome succeeds() { return succeeds_with({{"status", 0}}); }

class PlayedModel final : public Model {
 public:
  explicit PlayedModel(Played& played) : played_(played) {}
  ~PlayedModel() override { played_.asked.add("gone"); }

  void begin_run(CallObserver& observer) override {
    observer_ = &observer;
    played_.asked.add("begin_run");
  }
  CallOutcome call(const CallRequest& request) override {
    played_.asked.add(std::string(request.method->name));
    if (request.method->handle == HandleRole::kCreates) loaded_ = true;
    CallOutcome outcome = played_.act({request, std::exchange(observer_, nullptr), played_});
    if (request.method->handle == HandleRole::kDestroys) loaded_ = false;
    return outcome;
  }
  CallOutcome call_beside(const CallRequest& request) override {
    played_.asked.add(std::string(request.method->name) + " beside");
    return played_.act({request, nullptr, played_});
  }
  void stop_run() override { played_.asked.add("stop_run"); }
  bool loaded() const override { return loaded_; }
  Values values() const override { return loaded_ ? Values{{"n_batch", 2}} : Values{}; }

 private:
  Played& played_;
  CallObserver* observer_ = nullptr;
  bool loaded_ = false;
};

class PlayedEngine final : public Engine {
 public:
  explicit PlayedEngine(Played& played) : played_(played) {}

  std::unique_ptr<Model> new_model(const std::string& id, LostFunction) override {
    played_.asked.add("new " + id);
    return std::make_unique<PlayedModel>(played_);
  }
  CallOutcome call(const CallRequest& request) override {
    played_.asked.add(std::string(request.method->name) + " of the engine");
    return played_.act({request, nullptr, played_});
  }
  bool kill() override { return false; }

 private:
  Played& played_;
};

struct SaidEnd {
  std::uint32_t call = 0;
  Json content;
};

// The server's end of one socket.
class PlayedServer {
 public:
  explicit PlayedServer(Descriptor socket) : socket_(std::move(socket)) {}

  struct HowCalled {
    char encoding = 0;
    std::uint16_t flags = 0;
  };
  void call(std::uint32_t number, std::string_view method, std::string_view params = "{}", HowCalled how = {0, 0}) {
    std::string beginning{how.encoding, static_cast<char>(method.size())};
    beginning += method;
    socket_.send({.type = FrameType::kCall, .flags = how.flags, .call = number}, beginning, params);
  }
  void stop(std::uint32_t number) { socket_.send({.type = FrameType::kStop, .call = number}, {}); }
  SaidEnd end() { return end_from(socket_.receive()); }
  SaidEnd end_from(Frame frame) {
    FramedText whole(std::numeric_limits<std::size_t>::max());
    while (true) {
      if (frame.head.type != FrameType::kEnd) throw std::runtime_error("a frame that is no end");
      if (whole.add(frame)) return {frame.head.call, Json::parse(whole.take())};
      frame = socket_.receive();
    }
  }
  Frame frame() { return socket_.receive(); }
  void close() { socket_.shut_down(); }

 private:
  FrameSocket socket_;
};

struct Served {
  explicit Served(std::function<CallOutcome(const Made&)> act = [](const Made&) { return succeeds(); }) {
    played.act = std::move(act);
    model.emplace(engine, kServedMethods, "llm-7",
                  DescriptorPair{std::move(in_order_ends.second), std::move(beside_ends.second)},
                  [this](const std::string& name) { played.asked.add("named " + name); });
  }
  ~Served() { played.gate.open(); }

  // A model that is there.
  void load(std::uint32_t number = 1) {
    in_order.call(number, "init");
    in_order.end();
  }
  // What was sent on the second socket has been understood when this returns.
  void await_beside(std::uint32_t number = 1000) {
    beside.call(number, "ask");
    beside.end();
  }
  bool ends() { return model->wait_for_end(Clock::now() + kWorkerPatience); }

  Played played;
  PlayedEngine engine{played};
  DescriptorPair in_order_ends = make_stream_pair();
  DescriptorPair beside_ends = make_stream_pair();
  PlayedServer in_order{std::move(in_order_ends.first)};
  PlayedServer beside{std::move(beside_ends.first)};
  std::optional<ServedModel> model;  // last: its threads use the above
};

using Asked = std::vector<std::string>;

}  // namespace

TEST_CASE("calls are made one after the other, and each ends with its number and what is new of the model") {
  Served served([](const Made& made) {
    return succeeds_with({{"of", made.request.method->name}, {"params", made.request.params}});
  });
  served.in_order.call(1, "plain", R"({"a":[1,"x"]})");
  served.in_order.call(2, "init");
  served.in_order.call(7, "plain");
  const SaidEnd first = served.in_order.end();
  CHECK(first.call == 1);
  CHECK(first.content == Json::parse(R"({"result":{"of":"plain","params":{"a":[1,"x"]}},"aborted":false,
                                         "loaded":false})"));
  const SaidEnd second = served.in_order.end();
  CHECK(second.call == 2);
  CHECK(second.content == Json::parse(R"({"result":{"of":"init","params":{}},"aborted":false,
                                          "loaded":true,"handle_values":{"n_batch":2}})"));
  const SaidEnd third = served.in_order.end();
  CHECK(third.call == 7);
  CHECK_FALSE(third.content.contains("handle_values"));  // as before
  CHECK(served.played.asked.all() == Asked{"new llm-7", "plain", "init", "plain"});
}

TEST_CASE("a call of no method is answered, and asks nothing of the model") {
  Served served;
  served.in_order.call(1, "");
  const SaidEnd end = served.in_order.end();
  CHECK(end.call == 1);
  CHECK(end.content == Json::parse(R"({"result":null,"aborted":false,"loaded":false})"));
  CHECK(served.played.asked.all() == Asked{"new llm-7"});
}

TEST_CASE("a call that needs no handle is made by the engine") {
  Served served;
  served.in_order.call(1, "version");
  CHECK(served.in_order.end().content["result"] == Json{{"status", 0}});
  CHECK(served.played.asked.all() == Asked{"new llm-7", "version of the engine"});
}

TEST_CASE("an error of a call is told with code, message and data, a bug as an internal error") {
  Served served([](const Made& made) {
    return CallOutcome{
        .error = made.request.params.contains("bug")
                     ? std::make_exception_ptr(std::runtime_error("out of luck"))
                     : std::make_exception_ptr(RpcError(ErrorCode::kCallFailed, "no \xFF!", Json{{"status", -1}}))};
  });
  served.in_order.call(1, "plain");
  const SaidEnd failed = served.in_order.end();
  CHECK(failed.content["error"] == Json{{"code", 4001}, {"message", "no \xEF\xBF\xBD!"}, {"data", {{"status", -1}}}});
  CHECK(failed.content["result"].is_null());
  served.beside.call(2, "ask", R"({"bug":1})");
  const Json bug = served.beside.end().content["error"];
  CHECK(bug["code"] == -32603);
  CHECK_THAT(bug["message"].get<std::string>(), has_text("out of luck"));
}

TEST_CASE("parameters arrive as they were sent, with how arrays are wanted, and unread parts unread") {
  Served served([](const Made& made) {
    return succeeds_with({{"base64", made.request.encoding == ArrayEncoding::kBase64},
                          {"unread", std::string(unread_text(made.request.params))},
                          {"bytes", made.request.params.is_object() ? made.request.params.dump().size() : 0}});
  });
  served.in_order.call(1, "plain", R"({"a":1})", {1, 0});
  CHECK(served.in_order.end().content["result"] == Json{{"base64", true}, {"unread", ""}, {"bytes", 7}});
  served.in_order.call(2, "plain", R"({"a":[1,2,3]})", {0, kHasUnread});
  CHECK(served.in_order.end().content["result"] ==
        Json{{"base64", false}, {"unread", R"({"a":[1,2,3]})"}, {"bytes", 0}});
  const std::string longer = Json{{"a", std::string(3 * kMaxFrameBytes, 'x')}}.dump();
  served.in_order.call(3, "plain", longer);
  CHECK(served.in_order.end().content["result"]["bytes"] == longer.size());
}

TEST_CASE("an end that is longer than a frame arrives in several") {
  Served served([](const Made&) { return succeeds_with(std::string(2 * kMaxFrameBytes, 'x')); });
  served.in_order.call(1, "plain");
  CHECK(served.in_order.end().content["result"] == std::string(2 * kMaxFrameBytes, 'x'));
}

TEST_CASE("the name of the model's file is heard before it is loaded, if the call names one") {
  Served served;
  const auto [params, name] =
      GENERATE(table<std::string, std::string>({{R"({"param":{"model_path":"/models/qwen.2.rkllm"}})", "qwen.2"},
                                                {R"({"param":{"model_path":"plain"}})", "plain"},
                                                {R"({"param":{"model_path":"/models/"}})", ""},
                                                {R"({"param":{"model_path":""}})", ""},
                                                {R"({"param":{"model_path":5}})", ""},
                                                {R"({"param":{}})", ""},
                                                {R"({"param":"/models/x.rkllm"})", ""},
                                                {R"({"model_path":"/models/x.rkllm"})", ""},
                                                {"[]", ""},
                                                {"null", ""}}));
  served.in_order.call(1, "plain", params);
  served.in_order.end();
  served.in_order.call(2, "init", params);
  served.in_order.end();
  const Asked expected =
      name.empty() ? Asked{"new llm-7", "plain", "init"} : Asked{"new llm-7", "plain", "named " + name, "init"};
  CHECK(served.played.asked.all() == expected);
}

TEST_CASE("what a run produces comes before its end, which says how it ended") {
  Served served([](const Made& made) {
    if (!made.request.method->streams) return succeeds_with({{"observed", made.observer != nullptr}});
    made.observer->on_token(1, "a", 5);
    const std::array<float, 2> row{1, 2};
    made.observer->on_rows({"logits", "values", "tokens", "width", row.data(), 1, row.size()});
    made.observer->on_token(0, "b", 6);
    CallOutcome outcome = succeeds();
    outcome.state = "RKLLM_RUN_FINISH";
    outcome.values = Json{{"perf", {{"n", 2}}}};
    outcome.aborted = true;
    return outcome;
  });
  served.load();
  served.in_order.call(4, "run");
  std::string told;
  for (const FrameType type : {FrameType::kTokens, FrameType::kRows, FrameType::kTokens}) {
    const Frame frame = served.in_order.frame();
    REQUIRE(frame.head.type == type);
    CHECK(frame.head.call == 4);
    std::string_view content = frame.content;
    if (type != FrameType::kTokens) continue;
    const TokenRecord token = take_token(content);
    told += std::to_string(token.batch) + std::string(token.text.value_or("-")) + std::to_string(token.id) + " ";
    CHECK(content.empty());
  }
  CHECK(told == "1a5 0b6 ");
  const SaidEnd end = served.in_order.end();
  CHECK(end.call == 4);
  CHECK(end.content == Json::parse(R"({"result":{"status":0},"aborted":true,"state":"RKLLM_RUN_FINISH",
                                       "values":{"perf":{"n":2}},"loaded":true})"));
  served.in_order.call(5, "plain");
  CHECK(served.in_order.end().content["result"] == Json{{"observed", false}});
}

TEST_CASE("a call beside another one is answered while that goes on, and says nothing of the model") {
  Served served([](const Made& made) {
    if (made.is("plain")) made.played.gate.pass();
    return succeeds_with({{"of", made.request.method->name}});
  });
  served.load();
  served.in_order.call(2, "plain");
  REQUIRE(served.played.asked.has("plain"));
  served.beside.call(1, "ask");
  const SaidEnd end = served.beside.end();
  CHECK(end.call == 1);
  CHECK(end.content == Json::parse(R"({"result":{"of":"ask"},"aborted":false})"));
  served.played.gate.open();
  CHECK(served.in_order.end().call == 2);
}

TEST_CASE("a run that is told to stop is stopped while it goes on, and no other call is") {
  Served served([](const Made& made) {
    if (made.request.method->streams) made.played.gate.pass();
    return succeeds();
  });
  served.load();
  served.in_order.call(2, "run");
  REQUIRE(served.played.asked.has("run"));
  served.beside.stop(1);  // a call that has ended, and one that is no run
  served.beside.stop(3);
  served.await_beside();
  CHECK(served.played.asked.all() == Asked{"new llm-7", "init", "begin_run", "run", "ask beside"});
  served.beside.stop(2);
  CHECK(served.played.asked.has("stop_run"));
  served.played.gate.open();
  CHECK(served.in_order.end().call == 2);
}

TEST_CASE("a run that is told to stop before it is told to begin is stopped as it begins") {
  Served served;
  served.load();
  served.beside.stop(2);
  served.await_beside();
  served.in_order.call(2, "run");
  CHECK(served.in_order.end().call == 2);
  CHECK(served.played.asked.all() == Asked{"new llm-7", "init", "ask beside", "begin_run", "stop_run", "run"});
}

TEST_CASE("who stops a run that has ended does not stop the next one") {
  Served served;
  served.load();
  served.in_order.call(2, "run");
  served.in_order.end();
  served.beside.stop(2);
  served.await_beside();
  served.in_order.call(3, "run");
  served.in_order.end();
  CHECK(served.played.asked.all() == Asked{"new llm-7", "init", "begin_run", "run", "ask beside", "begin_run", "run"});
}

TEST_CASE("a model whose server has gone is destroyed if it is there, and ends once") {
  const bool is_loaded = GENERATE(true, false);
  Served served;
  if (is_loaded) served.load();
  CHECK_FALSE(served.model->has_ended());
  served.in_order.close();
  CHECK(served.ends());
  CHECK(served.model->has_ended());
  CHECK_THROWS_AS(served.beside.end(), PeerGone);
  served.model->end();
  served.model.reset();
  CHECK(served.played.asked.all() ==
        (is_loaded ? Asked{"new llm-7", "init", "destroy", "gone"} : Asked{"new llm-7", "gone"}));
}

TEST_CASE("the end of a model stops its run, waits for it, and then destroys the model") {
  Served served([](const Made& made) {
    if (made.request.method->streams) {
      made.played.gate.pass();
      made.played.asked.add("run ends");
    }
    return succeeds();
  });
  served.load();
  served.in_order.call(2, "run");
  REQUIRE(served.played.asked.has("run"));
  SECTION("by the worker") { served.model->end(); }
  SECTION("by the server, on both sockets") {
    served.in_order.close();
    served.beside.close();
  }
  SECTION("by the server, on the second socket alone, and then on the first") {
    served.beside.close();
    REQUIRE(served.played.asked.has("stop_run"));
    served.in_order.close();
  }
  REQUIRE(served.played.asked.has("stop_run"));
  CHECK_FALSE(served.model->has_ended());
  CHECK_FALSE(served.model->wait_for_end(Clock::now()));
  served.played.gate.open();
  CHECK(served.ends());
  const Asked asked = served.played.asked.all();
  REQUIRE(asked.size() >= 2);
  CHECK(asked.back() == "destroy");
  CHECK(asked.at(asked.size() - 2) == "run ends");
}

TEST_CASE("a run is to stop once nobody reads what it produces") {
  std::promise<bool> was_to_stop;
  Served served([&was_to_stop](const Made& made) {
    if (!made.request.method->streams) return succeeds();
    const bool at_first = made.observer->wants_to_stop();
    made.played.gate.pass();
    for (int n = 0; n < 100 && !made.observer->wants_to_stop(); ++n) {
      made.observer->on_token(0, std::string(kMostTextInRecord, 'x'), n);
    }
    was_to_stop.set_value(!at_first && made.observer->wants_to_stop());
    return succeeds();
  });
  served.load();
  served.in_order.call(2, "run");
  REQUIRE(served.played.asked.has("run"));
  served.in_order.close();
  served.played.gate.open();
  CHECK(was_to_stop.get_future().get());
  CHECK(served.ends());
}

TEST_CASE("a model is not destroyed during a call beside") {
  Served served([](const Made& made) {
    if (made.is("ask")) {
      made.played.gate.pass();
      made.played.asked.add("ask ends");
    }
    return succeeds();
  });
  served.load();
  served.beside.call(1, "ask");
  REQUIRE(served.played.asked.has("ask beside"));
  served.in_order.close();
  CHECK_THROWS_AS(served.beside.end(), PeerGone);  // it is about to end
  CHECK_FALSE(served.model->has_ended());
  served.played.gate.open();
  CHECK(served.ends());
  CHECK(served.played.asked.all() == Asked{"new llm-7", "init", "ask beside", "ask ends", "destroy"});
}
