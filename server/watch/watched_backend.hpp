// Stands in front of a backend and takes note of every call: how long it waited, what came of it. One log line each,
// and the metrics. What was asked and answered is nowhere in it.
//
// Threads: as Backend.
#pragma once

#include "backend.hpp"
#include "watch/metrics.hpp"

#include <rkllm_mcp/json.hpp>

#include <functional>
#include <memory>
#include <string_view>

namespace rkllm_mcp {

// How a log line tells whose request it is about.
Json fields_of(const RequestSource& source);

class WatchedBackend final : public Backend {
 public:
  // `report` hears of each call that has ended, and asks for its fields if it wants them; any thread.
  using ReportFunction = std::function<void(const std::function<Json()>& fields)>;

  // Hears that a call has begun, or ended, or moved in its queue; any thread. `handle` is known at its end only.
  using MovedFunction = std::function<void(std::string_view handle)>;

  // All outlive this backend and its calls.
  WatchedBackend(
      Backend& backend, Metrics& metrics, ReportFunction report, MovedFunction moved = [](std::string_view) {})
      : backend_(backend), notes_(std::make_shared<Notes>(Notes{metrics, std::move(report), std::move(moved)})) {}

  CallId start(CallRequest request) override;
  // A call that the server makes, for a client's chat turn, say, made to be watched like those of start(). Its time to
  // the first token is in the histogram, but not noted for the handle: the client's request was earlier.
  CallRequest watched(CallRequest request) const;
  void cancel(CallId id) override { backend_.cancel(id); }
  void give_up(CallId id, const RpcError& why) override { backend_.give_up(id, why); }

 private:
  struct Notes {
    Metrics& metrics;
    ReportFunction report;
    MovedFunction moved;
  };
  class Watch;
  enum class AskedBy { kClient, kServer };

  CallRequest watched_for(AskedBy asked_by, CallRequest request) const;

  Backend& backend_;
  const std::shared_ptr<Notes> notes_;  // calls may outlive the backend
};

}  // namespace rkllm_mcp
