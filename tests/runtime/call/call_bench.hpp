// A caller and one client of it, over a backend whose calls end when the test says so, in time that passes when the
// test says so: for programs that link simulated_runtime.
#pragma once

#include "auth/access_tokens.hpp"
#include "call/caller.hpp"
#include "counts.hpp"
#include "runtime/fake_backend.hpp"
#include "simulation/sim_bench.hpp"
#include "support/usual_limits.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {

// All its calls wait until they end. Remembers which it was to give up.
struct ImpatientBackend : FakeBackend {
  void give_up(CallId id, const RpcError& why) override {
    given_up.push_back(id);
    if (calls.at(static_cast<std::size_t>(id) - 1).observer) FakeBackend::give_up(id, why);
  }

  std::vector<CallId> given_up;
};

// As usual, but that calls may wait for ever.
inline CallLimits patient_limits() {
  auto limits = usual_limits<CallLimits>();
  limits.queue_timeout = std::chrono::seconds(0);
  return limits;
}

// The loop runs only inside settle() and pass(). There may be one at a time: it has the clock.
struct CallBench {
  using Texts = std::vector<std::string>;

  explicit CallBench(CallLimits given = patient_limits(),
                     PeerFacts facts = {.transport = TransportKind::kTcp, .address = "192.0.2.1:4000"},
                     SessionOf clients = SessionOf::kOneClient)
      : limits(counted(std::move(given))),
        peer(std::make_shared<FakePeer>(std::move(facts))),
        session(std::make_shared<Session>(table, clients)) {
    session->principal = &owner;
  }
  CallBench(const CallBench&) = delete;
  CallBench& operator=(const CallBench&) = delete;
  // As in life: the client goes, and what it left behind comes to its end.
  ~CallBench() {
    peer->close();
    if (session) session->client_gone();
    backend.fail_the_rest(cancelled());
    settle();
  }

  void settle() { around.settle(); }
  void pass(std::chrono::milliseconds time) { around.pass(time); }
  // What the client has been sent since it was last asked for.
  Texts told() {
    settle();
    return std::exchange(peer->sent, {});
  }
  // The one message that it has been sent.
  Json told_once() {
    const Texts all = told();
    if (all.size() != 1) throw std::runtime_error(std::to_string(all.size()) + " messages instead of one");
    return Json::parse(all[0]);
  }
  std::shared_ptr<Reply> reply(const std::string& id) const { return std::make_shared<Reply>(*peer, id); }
  void bring(std::size_t call, const std::string& text) { backend.calls.at(call).observer->on_token(0, text, 1); }
  std::uint64_t reached(Limit limit) const { return counts.reached.at(static_cast<std::size_t>(limit)); }

  simulation::SimBench around;
  const Principal owner{"owner", true, true};
  Counts counts;
  const CallLimits limits;
  Api api = fake_api();
  ImpatientBackend backend;
  StreamRegistry registry;
  std::shared_ptr<RequestTable> table = std::make_shared<RequestTable>(&backend);
  Caller caller{around.loop(), api, backend, registry, limits};
  std::shared_ptr<FakePeer> peer;
  std::shared_ptr<Session> session;

 private:
  CallLimits counted(CallLimits given) {
    given.counts = &counts;
    return given;
  }
};

inline const Method& kPlain = kFakeMethods[0];
inline const Method& kRun = kFakeMethods[1];
inline const Method& kRunAsync = kFakeMethods[2];

}  // namespace rkllm_mcp::test
