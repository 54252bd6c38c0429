// Too few file descriptors, as in a process that has as many files open as it may.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

namespace rkllm_mcp::test {

// For its lifetime this process may open so many descriptors more.
class FewDescriptors {
 public:
  explicit FewDescriptors(int more = 0) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(::dup(STDERR_FILENO));  // the lowest free number
    ::close(static_cast<int>(few.rlim_cur));
    few.rlim_cur += static_cast<rlim_t>(more);
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;
  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace rkllm_mcp::test
