// A backend whose calls end when the test says so, and a peer that remembers what it was sent: the runtime library
// without sockets and without a model.
#pragma once

#include "api.hpp"
#include "backend.hpp"
#include "mcp/catalogue.hpp"
#include "transport/peer.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {

// Its calls are numbered from 1 on, whatever their requests' ids.
class FakeBackend : public Backend {
 public:
  struct Call {
    CallRequest request;
    std::shared_ptr<CallObserver> observer;
  };

  CallId start(CallRequest request) override {
    if (breaks) throw std::logic_error("a fault");
    auto observer = std::exchange(request.observer, nullptr);
    calls.push_back({std::move(request), std::move(observer)});
    return calls.size();
  }
  void cancel(CallId id) override { cancelled.push_back(id); }
  void give_up(CallId id, const RpcError& why) override { fail(static_cast<std::size_t>(id) - 1, why); }

  void finish(std::size_t call, Json values = nullptr) {
    CallOutcome outcome;
    outcome.result = Json{{"status", 0}};
    if (calls[call].request.method->streams) outcome.state = "FINISH";
    outcome.values = std::move(values);
    end(call, std::move(outcome));
  }
  void fail(std::size_t call, const RpcError& error) { end(call, {.error = std::make_exception_ptr(error)}); }
  void fail_the_rest(const RpcError& error) {
    for (std::size_t call = 0; call < calls.size(); ++call) {
      if (calls[call].observer) fail(call, error);
    }
  }

  bool breaks = false;  // start() throws
  std::vector<Call> calls;
  std::vector<CallId> cancelled;

 private:
  void end(std::size_t call, CallOutcome outcome) {
    std::exchange(calls[call].observer, nullptr)->on_done(std::move(outcome));
  }
};

class FakePeer : public ConnectedPeer {
 public:
  explicit FakePeer(TransportKind kind = TransportKind::kTcp, std::string address = "test")
      : FakePeer(PeerFacts{.transport = kind, .address = std::move(address)}) {}
  explicit FakePeer(PeerFacts facts) : ConnectedPeer(std::move(facts)) {}

  void send(std::string_view message) override {
    if (std::exchange(breaks, false)) throw std::logic_error("a fault");
    sent.emplace_back(message);
  }
  bool ready() const override { return takes; }
  bool closed() const override { return closed_; }
  bool has_room_for(std::size_t bytes) const override { return bytes <= room; }
  void close() override {
    closed_ = true;
    became_closed();
  }
  void take_again() {
    takes = true;
    became_ready();
  }

  std::vector<std::string> sent;
  bool takes = true;
  bool breaks = false;  // the next send() throws
  std::size_t room = static_cast<std::size_t>(-1);

 private:
  void input_resumed() override {}

  bool closed_ = false;
};

// Three methods: one plain, one that answers at the end, one that streams by default.
inline const std::array<std::string_view, 2> kFakeParams{"handle", "prompt"};
inline const std::array<Method, 3> kFakeMethods{Method{.name = "plain",
                                                       .title = "Plain",
                                                       .description = "A call.",
                                                       .declaration = "int plain(void*, const char*)",
                                                       .params = kFakeParams,
                                                       .handle_param = "handle",
                                                       .input_schema = R"({"type":"object"})",
                                                       .output_schema = R"({"type":"object"})"},
                                                Method{.name = "run",
                                                       .title = "Run",
                                                       .description = "A run.",
                                                       .declaration = "int run(void*, const char*)",
                                                       .params = kFakeParams,
                                                       .handle_param = "handle",
                                                       .streams = true,
                                                       .input_schema = R"({"type":"object"})",
                                                       .output_schema = R"({"type":"object"})"},
                                                Method{.name = "run_async",
                                                       .title = "Run",
                                                       .description = "A run.",
                                                       .declaration = "int run_async(void*, const char*)",
                                                       .params = kFakeParams,
                                                       .handle_param = "handle",
                                                       .streams = true,
                                                       .streams_by_default = true,
                                                       .input_schema = R"({"type":"object"})",
                                                       .output_schema = R"({"type":"object"})"}};
inline const std::array<Fact, 1> kFakeFacts{Fact{"CPU4", ConstantFact{std::int64_t{16}}}};

inline Api fake_api() {
  Api api;
  api.methods = kFakeMethods;
  api.facts = kFakeFacts;
  return api;
}

// Without the API's tools, which take a dispatcher.
inline mcp::Catalogue fake_catalogue() {
  mcp::Catalogue catalogue;
  catalogue.name = "fake";
  catalogue.title = "Fake";
  catalogue.version = "1";
  catalogue.resources.push_back(
      {"fake://api", "api", "API", "All of it.", "application/json", [] { return mcp::ResourceText{"{}"}; }, 2});
  return catalogue;
}

}  // namespace rkllm_mcp::test
