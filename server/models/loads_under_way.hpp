// How far each load of a model is, whoever has asked for it: by name, or by rkllm_init. For status pages.
//
// Threads: any one; looks at files of the kernel and at the model's file, which do not block for long.
#pragma once

#include "backend/queued_backend.hpp"
#include "models/load_progress.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

namespace rkllm_mcp {

class LoadsUnderWay {
 public:
  // `proc` is /proc but in tests.
  explicit LoadsUnderWay(std::filesystem::path proc = "/proc") : proc_(std::move(proc)) {}

  // Of each of these: {"name","path","bytes","total","seconds_left"}; null for what is not known. The time that is left
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
