// While an object of this class exists, Ctrl-C (SIGINT) does not end the program; taken() tells of it. Make it before
// other threads are started: they inherit that SIGINT is blocked. Threads: taken() from any.
#pragma once

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace rkllm_mcp {

class Interrupts {
 public:
  Interrupts();  // throws std::system_error
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  ~Interrupts();

  bool taken() const;  // whether Ctrl-C was pressed since the last call; does not wait

 private:
  sigset_t before_{};
  int descriptor_;
};

inline Interrupts::Interrupts() {
  sigset_t interrupts;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &interrupts, &before_);
  descriptor_ = ::signalfd(-1, &interrupts, SFD_NONBLOCK | SFD_CLOEXEC);
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
}

inline Interrupts::~Interrupts() {
  taken();  // else it would end the program now
  ::close(descriptor_);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

inline bool Interrupts::taken() const {
  signalfd_siginfo signal{};
  return ::read(descriptor_, &signal, sizeof signal) == sizeof signal;
}

}  // namespace rkllm_mcp
