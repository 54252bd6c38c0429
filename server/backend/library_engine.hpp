// Makes calls on a library in this process.
#pragma once

#include "backend/engine.hpp"
#include "backend/loaded_library.hpp"

#include <memory>
#include <string>

namespace rkllm_mcp {

class LibraryEngine final : public Engine {
 public:
  explicit LibraryEngine(const LoadedLibrary& library) : library_(library) {}

  std::unique_ptr<Model> new_model(const std::string& id, LostFunction lost) override;
  CallOutcome call(const CallRequest& request) override;
  bool kill() override { return false; }  // a thread that hangs in a library cannot be stopped

 private:
  const LoadedLibrary& library_;
};

}  // namespace rkllm_mcp
