// Standard output, in whole lines, whoever writes them.
//
// Threads: any.
#pragma once

#include <mutex>
#include <string>

namespace rkllm_mcp {

class OutputLines {
 public:
  // Writes the line and its end, and waits while whoever reads them is slow; false when nobody reads any more.
  bool print(std::string line);

 private:
  std::mutex mutex_;  // held for as long as a line is being written
};

}  // namespace rkllm_mcp
