// What `ps` and `top` show of this process. Linux reads both names from memory of the process itself: the long one from
// where its command line stands, which is overwritten here, the short one (15 bytes) from what its first thread says.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

namespace rkllm_mcp {

class ProcessTitle {
 public:
  // The memory that main() was given its arguments in, which nobody may need any more when show() is called. Only as
  // far as they stand one behind the other, as Linux lays them out. Empty if there are none.
  static std::span<char> memory_of(int argc, char** argv);

  // Writes into `memory` alone, which outlives this; an empty one is left as it is.
  explicit ProcessTitle(std::span<char> memory) : memory_(memory) {}

  // From now on the process is called that, as far as there is room. What could not be shown in one line becomes '?'.
  void show(std::string_view title);

 private:
  std::mutex mutex_;
  const std::span<char> memory_;
};

}  // namespace rkllm_mcp
