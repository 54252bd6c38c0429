// What clients saw of their streams, and what the simulator says it delivered: the two are compared when all is over.
//
// Threads: note() from any; verdict() when all clients have ended.
#pragma once

#include "support/live_server.hpp"

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace rkllm_mcp::test {

// How a stream ended for its client.
enum class Ending {
  kWhole,    // with its last chunk
  kAborted,  // with its last chunk, which says that it was aborted
  kRefused,  // with an error before its first chunk
  kCut,      // the client left
  kKilled,   // with an error: the worker was killed
};

struct SeenStream {
  std::string prompt;  // no two are the same
  std::string text;    // of all chunks that came
  Ending ending;
};

// Streams that were not as they should be, and what else was counted.
struct Verdict {
  std::uint64_t streams = 0;
  std::uint64_t tokens = 0;      // as the simulator counts them
  std::uint64_t lost = 0;        // something of what was delivered did not arrive
  std::uint64_t mixed = 0;       // something arrived that was not delivered
  std::uint64_t duplicated = 0;  // a run was made twice
  std::vector<std::string> complaints;
};

class Ledger {
 public:
  void note(SeenStream stream);
  Verdict verdict(const std::vector<RecordedRun>& runs) const;

 private:
  mutable std::mutex mutex_;
  std::vector<SeenStream> streams_;
};

}  // namespace rkllm_mcp::test
