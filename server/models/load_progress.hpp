// How far loads of models are. The library says nothing while it loads; the kernel says what the worker has read.
//
// Threads: any one; reads files of /proc and looks at the model's file, which do not block for long.
#pragma once

#include "backend/queued_backend.hpp"

#include <rkllm_mcp/json.hpp>

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp {

// How much of a model's file one worker has read.
class LoadedBytes {
 public:
  // `model` is the file. `proc` is /proc but in tests.
  LoadedBytes(std::string model, std::optional<std::int64_t> total, std::filesystem::path proc = "/proc")
      : model_(std::move(model)), total_(total), proc_(std::move(proc)) {}

  // Returns the larger of two numbers: the position in the open file, and the bytes that the process has read in all
  // since the first call (it may not read the file from its beginning to its end). Never less than an earlier result,
  // never more than the file has; nothing while neither number is known.
  std::optional<std::int64_t> of(pid_t process);

 private:
  const std::string model_;
  const std::optional<std::int64_t> total_;
  const std::filesystem::path proc_;
  std::optional<std::int64_t> read_before_;  // bytes that the process had read at the first call
  std::optional<std::int64_t> so_far_;
};

// How far each load of a model is, whoever has asked for it: by name, or by rkllm_init. For status pages.
class LoadsUnderWay {
 public:
  // `proc` is /proc but in tests.
  explicit LoadsUnderWay(std::filesystem::path proc = "/proc") : proc_(std::move(proc)) {}

  // For each load: {"name","path","bytes","total","seconds_left"}; null for what is not known. The time that is left
  // is known from an earlier load of the same file alone.
  Json status(const std::vector<QueuedBackend::Load>& loads);

 private:
  struct Seen {
    std::optional<std::int64_t> total;
    LoadedBytes bytes;
  };

  const std::filesystem::path proc_;
  std::map<QueuedBackend::CallId, Seen> seen_;
};

}  // namespace rkllm_mcp
