// Takes names: that of a model wherever a call takes a handle, as in rkllm_run {"handle":"qwen2.5-1.5b"}, which loads
// the model if it is not loaded; that of a preset in the calls that create handles, as in rkllm_init {"model":"big"}.
// All calls of clients go through here, and those by which the settings have models loaded (autoload); and on to the
// backend of the runtime that is served when nothing keeps them waiting any more.
//
// Calls that stop or ask after a run (rkllm_abort, rkllm_is_running), and rkllm_destroy, load nothing.
//
// Threads: as Backend; start(), cancel() and give_up() on the event loop.
#pragma once

#include "backend.hpp"
#include "models/server_models.hpp"

#include <asio/io_context.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace rkllm_mcp {

class NamedBackend final : public Backend {
 public:
  // Returns the backend that makes the calls now. It is replaced by another only while it has no call in progress.
  using BackendFunction = std::function<Backend&()>;

  // Both outlive it.
  NamedBackend(asio::io_context& loop, ServerModels& models, BackendFunction backend)
      : loop_(loop), models_(models), backend_(std::move(backend)) {}

  CallId start(CallRequest request) override;
  void cancel(CallId id) override;
  void give_up(CallId id, const RpcError& why) override;

 private:
  class Waiting;

  // The handle that the name stands for at this moment; empty: none that the call can go to at once.
  std::string handle_for(const Method& method, const std::string& name) const;
  CallId wait_for(const std::string& name, CallRequest request);

  asio::io_context& loop_;
  ServerModels& models_;
  const BackendFunction backend_;
  std::map<CallId, std::shared_ptr<Waiting>> waiting_;  // that have not been handed on
};

}  // namespace rkllm_mcp
