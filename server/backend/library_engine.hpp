// Makes calls on a library in this process.
#pragma once

#include "backend/engine.hpp"
#include "backend/file_rules.hpp"
#include "backend/loaded_library.hpp"

#include <memory>
#include <string>
#include <utility>

namespace rkllm_mcp {

class LibraryEngine final : public Engine {
 public:
  explicit LibraryEngine(const LoadedLibrary& library, FileRules files = FileRules({}))
      : library_(library), files_(std::move(files)) {}

  std::unique_ptr<Model> new_model(const std::string& id, LostFunction lost) override;
  CallOutcome call(const CallRequest& request) override;
  bool kill() override { return false; }  // a thread that hangs in a library cannot be stopped

 private:
  const LoadedLibrary& library_;
  const FileRules files_;
};

}  // namespace rkllm_mcp
