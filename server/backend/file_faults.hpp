// What is wrong with a file that the library could not use. The library says so in its log at best, and returns -1.
#pragma once

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/file_policy.hpp>

#include <optional>
#include <string>
#include <vector>

namespace rkllm_mcp {

// Passes on to another policy, and remembers which files the library was given to read. For one call.
class NotedFiles final : public FilePolicy {
 public:
  explicit NotedFiles(const FilePolicy& policy) : policy_(policy) {}

  std::string path_for(const std::string& given, FileUse use) const override {
    std::string path = policy_.path_for(given, use);
    if (use == FileUse::kRead) read_.push_back(path);
    return path;
  }

  // The failure, with the first fault of one of those files in front: `no such file: /no/model (rkllm_init returned
  // -1)`.
  // Nothing if there is no fault.
  std::optional<RpcError> explained(const CallFailed& failure) const;

 private:
  const FilePolicy& policy_;
  mutable std::vector<std::string> read_;
};

}  // namespace rkllm_mcp
