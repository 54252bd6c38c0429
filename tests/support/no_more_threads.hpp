// No memory for another thread's stack, as on a board that is full.
#pragma once

#include "support/catch.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace rkllm_mcp::test {

// As long as it lives, no thread can be started, or only so many more.
class NoMoreThreads {
 public:
  explicit NoMoreThreads(std::size_t left = 0) {
    REQUIRE(::pthread_getattr_default_np(&usual_) == 0);
    REQUIRE(::getrlimit(RLIMIT_AS, &usual_limit_) == 0);
    pthread_attr_t large;
    REQUIRE(::pthread_attr_init(&large) == 0);
    REQUIRE(::pthread_attr_setstacksize(&large, kLargeStack) == 0);
    REQUIRE(::pthread_setattr_default_np(&large) == 0);
    ::pthread_attr_destroy(&large);
    // All else that needs memory meanwhile has half a stack.
    rlimit limit = usual_limit_;
    limit.rlim_cur = bytes_in_use() + left * kLargeStack + kLargeStack / 2;
    REQUIRE(::setrlimit(RLIMIT_AS, &limit) == 0);
  }
  ~NoMoreThreads() {
    ::setrlimit(RLIMIT_AS, &usual_limit_);
    ::pthread_setattr_default_np(&usual_);
    ::pthread_attr_destroy(&usual_);
  }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;

 private:
  // 512 MiB, or 256 where addresses have 32 bits. None of it is ever written to.
  static constexpr std::size_t kLargeStack = std::size_t{1} << (27 + sizeof(std::size_t) / 4);

  static std::size_t bytes_in_use() {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  }

  pthread_attr_t usual_{};
  rlimit usual_limit_{};
};

}  // namespace rkllm_mcp::test
