// How much of a model's file a worker has read. The library says nothing while it loads; the kernel does.
//
// Threads: any one; reads files of /proc, which do not block.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace rkllm_mcp {

class LoadedBytes {
 public:
  // `model` is the file. `proc` is /proc but in tests.
  LoadedBytes(std::string model, std::optional<std::int64_t> total, std::filesystem::path proc = "/proc")
      : model_(std::move(model)), total_(total), proc_(std::move(proc)) {}

  // The position in the open file, or, where the file is not read from its beginning to its end, what the process has
  // read in all since it was first asked for; whichever is more, never less than before, never more than the file has.
  // Nothing while nothing is known.
  std::optional<std::int64_t> of(pid_t process);

 private:
  const std::string model_;
  const std::optional<std::int64_t> total_;
  const std::filesystem::path proc_;
  std::optional<std::int64_t> read_before_;  // by the process, before it began to load
  std::optional<std::int64_t> so_far_;
};

}  // namespace rkllm_mcp
