// Makes calls on a library in this process.
#pragma once

#include "backend/engine.hpp"
#include "backend/file_rules.hpp"
#include "library/loaded_library.hpp"
#include "library/standard_error_tap.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/file_policy.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp {

class LibraryEngine final : public Engine {
 public:
  // `printed`: what the library prints; outlives the engine. Null in a worker: the server reads its output.
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

// Passes on to another policy, and remembers which files the library was given to read, to say what is wrong with a
// file that it could not use: the library says so in its log at best, and returns -1. For one call.
class NotedFiles final : public FilePolicy {
 public:
  explicit NotedFiles(const FilePolicy& policy) : policy_(policy) {}

  std::string path_for(const std::string& given, FileUse use) const override {
    std::string path = policy_.path_for(given, use);
    if (use == FileUse::kRead) read_.push_back(path);
    return path;
  }

  // The failure, with the first fault of one of those files in front: `no such file: /no/model (rkllm_init returned
  // -1)`. Nothing if there is no fault.
  std::optional<RpcError> explained(const CallFailed& failure) const;

 private:
  const FilePolicy& policy_;
  mutable std::vector<std::string> read_;
};

}  // namespace rkllm_mcp
