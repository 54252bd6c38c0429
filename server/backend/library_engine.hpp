// Makes calls on a library in this process.
#pragma once

#include "backend/engine.hpp"
#include "backend/file_rules.hpp"
#include "backend/loaded_library.hpp"
#include "backend/standard_error_tap.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace rkllm_mcp {

class LibraryEngine final : public Engine {
 public:
  // `printed`: what the library prints; outlives the engine. Null: whoever reads this process's output sees to that.
  explicit LibraryEngine(const LoadedLibrary& library, FileRules files = FileRules({}),
                         StandardErrorTap* printed = nullptr)
      : library_(library), files_(std::move(files)), printed_(printed) {}

  std::unique_ptr<Model> new_model(const std::string& id, LostFunction lost) override;
  CallOutcome call(const CallRequest& request) override;
  bool kill() override { return false; }  // a thread that hangs in a library cannot be stopped

 private:
  const LoadedLibrary& library_;
  const FileRules files_;
  StandardErrorTap* const printed_;
  std::mutex loading_;  // the library makes one handle at a time
};

}  // namespace rkllm_mcp
