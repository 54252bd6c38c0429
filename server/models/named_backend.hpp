// Takes the name of a model wherever a call takes a handle, and loads the model if it is not loaded:
// rkllm_run {"handle":"qwen2.5-1.5b"}. All calls of clients go through here; nothing behind it knows of names.
//
// Calls that stop or ask after a run (rkllm_abort, rkllm_is_running), and rkllm_destroy, load nothing.
//
// Threads: as Backend; start(), cancel() and give_up() on the event loop.
#pragma once

#include "backend.hpp"
#include "models/server_models.hpp"

#include <asio/io_context.hpp>

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace rkllm_mcp {

class NamedBackend final : public Backend {
 public:
  // All outlive it. Calls are handed on to `backend`.
  NamedBackend(asio::io_context& loop, ServerModels& models, Backend& backend)
      : loop_(loop), models_(models), backend_(backend) {}

  CallId start(CallRequest request) override;
  void cancel(CallId id) override;
  void give_up(CallId id, const RpcError& why) override;

 private:
  class Waiting;

  CallId wait_for(const std::string& name, CallRequest request);

  asio::io_context& loop_;
  ServerModels& models_;
  Backend& backend_;
  // Ids of calls that have none of the backend's yet; far from those.
  CallId next_ = CallId{1} << 62U;
  std::map<CallId, std::shared_ptr<Waiting>> waiting_;
};

}  // namespace rkllm_mcp
