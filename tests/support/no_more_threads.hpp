// No memory for another thread's stack, as on a board that is full.
#pragma once

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <fstream>
#include <system_error>

namespace rkllm_mcp::test {

// As long as it lives, no thread can be started, or only so many more. Throws std::system_error if that cannot be done:
// it is made on any thread, and Catch's assertions are for the test's own.
class NoMoreThreads {
 public:
  // Once the other constructor is done, the destructor undoes also what this one has done before it throws.
  explicit NoMoreThreads(std::size_t left = 0) : NoMoreThreads(Usual{}) {
    pthread_attr_t large;
    require(::pthread_attr_init(&large));
    int error = ::pthread_attr_setstacksize(&large, kLargeStack);
    if (error == 0) error = ::pthread_setattr_default_np(&large);
    ::pthread_attr_destroy(&large);
    require(error);
    // All else that needs memory meanwhile has half a stack.
    rlimit limit = usual_limit_;
    limit.rlim_cur = bytes_in_use() + left * kLargeStack + kLargeStack / 2;
    if (::setrlimit(RLIMIT_AS, &limit) != 0) require(errno);
  }
  ~NoMoreThreads() {
    ::setrlimit(RLIMIT_AS, &usual_limit_);
    ::pthread_setattr_default_np(&usual_);
    ::pthread_attr_destroy(&usual_);
  }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;

 private:
  struct Usual {};

  // Remembers what is usual.
  explicit NoMoreThreads(Usual) {
    if (::getrlimit(RLIMIT_AS, &usual_limit_) != 0) require(errno);
    require(::pthread_getattr_default_np(&usual_));
  }

  static void require(int error) {
    if (error != 0) throw std::system_error(error, std::generic_category(), "the number of threads is not limited");
  }

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
