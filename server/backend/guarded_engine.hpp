// Stands in front of any engine, and refuses calls that the library accepts, but then fails to make, or crashes on.
//
// Seen with runtime 1.3.0: a conversation with n_batch above 1 runs once, and never again; a multimodal prompt without
// an image or video is taken for no input at all; an adapter that cannot be applied is accepted with an error in the
// log, and the first run with it aborts the process.
#pragma once

#include "backend/engine.hpp"

#include <memory>
#include <string>
#include <utility>

namespace rkllm_mcp {

class GuardedEngine final : public Engine {
 public:
  explicit GuardedEngine(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

  std::unique_ptr<Model> new_model(const std::string& id, LostFunction lost) override;
  CallOutcome call(const CallRequest& request) override { return engine_->call(request); }
  bool kill() override { return engine_->kill(); }

 private:
  const std::unique_ptr<Engine> engine_;
};

}  // namespace rkllm_mcp
