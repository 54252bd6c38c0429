// Models as the server sees them through Backend: calls on one handle one after the other, tokens one by one, each as
// an event of its own. A run's prompt says how many tokens it has, and its text can be told from that of any other.
#pragma once

#include "simulation/world/world.hpp"

#include "backend.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace rkllm_mcp::simulation {

class SimBackend : public Backend {
 public:
  static constexpr std::string_view kHandles[] = {"a", "b"};
  static constexpr std::uint32_t kTokens = 12;  // runs have fewer, but for some long ones

  explicit SimBackend(World& world) : world_(world) {}

  CallId start(CallRequest request) override;
  void cancel(CallId id) override;
  void give_up(CallId id, const RpcError& why) override;

  // Ends all calls, as the runtime's end does.
  void end_all();

  // "NAME:COUNT" → token 0 is "NAME#0 ", and so on.
  static std::string prompt(std::string_view name, std::size_t tokens);
  static std::string token(std::string_view name, std::size_t index);
  static std::string text(std::string_view name, std::size_t tokens);  // all of them

 private:
  struct Job {
    CallId id;
    CallRequest request;
    std::shared_ptr<CallObserver> observer;
    std::string name;
    std::size_t tokens = 0;
    std::size_t given = 0;
    bool stopping = false;
    bool begun = false;
    bool waits = false;  // for room
  };
  using Queue = std::deque<std::shared_ptr<Job>>;

  void go_on(const std::string& handle);
  void work(const std::string& handle, const std::shared_ptr<Job>& job);
  void end(const std::string& handle, const std::shared_ptr<Job>& job, CallOutcome outcome);
  bool take_out(CallId id, const RpcError& why);  // of its queue

  World& world_;
  std::map<std::string, Queue> queues_;  // by handle; the front one is being made
  std::map<std::string, bool> offered_;
};

}  // namespace rkllm_mcp::simulation
