// Between the server and its models: whose calls have been begun and have not ended.
#pragma once

#include "simulation/world/world.hpp"

#include "backend.hpp"
#include "clock.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace rkllm_mcp::simulation {

class OpenCalls final : public Backend {
 public:
  // Whether a call that was told to stop still counts. In a worker it does not: how long that takes is no fault.
  enum class Stopping { kCounts, kIsExcused };

  OpenCalls(Backend& models, Stopping stopping) : models_(models), stopping_(stopping) {}

  CallId start(CallRequest request) override;
  void cancel(CallId id) override;
  void give_up(CallId id, const RpcError& why) override { models_.give_up(id, why); }

  // Calls that have not ended, of clients whose address is `peer`, or of all.
  std::size_t calls_of(std::string_view peer) const;
  std::size_t calls_of_host(std::string_view host) const;  // whichever of its connections they came by
  bool is_making(std::string_view name) const;
  // After each step: no run waits in its queue for longer. Throws a Violation.
  void check(Clock::duration longest);
  std::size_t calls() const { return calls_.size(); }

 private:
  struct Call {
    std::string peer;
    std::string name;  // that its prompt begins with
    Clock::time_point asked;
    bool has_begun = false;  // true from the start if the method does not stream: then no beginning is told
    bool is_told_to_stop = false;
    int steps_too_long = 0;
  };
  class Observer;

  std::size_t count(const std::function<bool(const Call&)>& counts) const;

  Backend& models_;
  const Stopping stopping_;
  std::size_t last_key_ = 0;
  std::map<std::size_t, Call> calls_;
  std::map<CallId, std::size_t> keys_;  // of calls_
};

}  // namespace rkllm_mcp::simulation
