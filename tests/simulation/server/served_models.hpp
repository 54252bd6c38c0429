// Models in workers, for clients of the server: a client's call goes through the server's queues and as frames to a
// worker that is slow, hangs, or dies, and a model that is lost is loaded anew. Their handles are those of SimBackend.
#pragma once

#include "sim_backend.hpp"
#include "simulation/world/world.hpp"
#include "worker_backend.hpp"

#include "backend.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::simulation {

class ServedModels final : public Backend {
 public:
  explicit ServedModels(World& world);
  // Takes steps until both models are loaded. From then on workers may fail.
  void load();

  CallId start(CallRequest request) override;
  void cancel(CallId id) override;
  void give_up(CallId id, const RpcError& why) override;

  // For a call made now. The result tells whether the model was not loaded then or is not now, or its worker failed.
  std::function<bool()> losses_from_now(std::string_view handle) const;
  WorkerBackend& workers() { return workers_; }
  void behave() { workers_.workers().behave(); }

 private:
  class Loading;
  // One of the two.
  struct Model {
    std::vector<std::string> ids{};  // all that it has had in the queues; the last one is what it has now
    bool is_loaded = false;
  };

  static std::size_t place_of(std::string_view handle);
  void load(std::size_t place);

  World& world_;
  WorkerBackend workers_;
  std::array<Model, std::size(SimBackend::kHandles)> models_;
  std::set<std::string> lost_;  // handles of models that were lost before their loading was told to have ended
};

}  // namespace rkllm_mcp::simulation
