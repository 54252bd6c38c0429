// Tells work on another thread to stop, and ends what it waits for. Threads: any; a mutex guards it.
#pragma once

#include "process/descriptor.hpp"

#include <mutex>

namespace rkllm_mcp {

class StopSignal {
 public:
  StopSignal() = default;
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  // Never blocks. The socket that is watched, and each one that will be, is shut down: whoever waits for it wakes up.
  void stop();
  bool is_stopped() const;

  // The socket that is waited for from here on; its owner may close it at any time. If too many files are open to watch
  // it, it is shut down at once: nothing could end the wait for it.
  void watch(int socket);
  // Bytes that have come over it, as far as the system counts them: TCP only.
  unsigned long long received() const;

 private:
  mutable std::mutex mutex_;
  bool stopped_ = false;
  Descriptor watched_;  // a descriptor of our own, so that it stays this socket whatever its owner does
};

}  // namespace rkllm_mcp
