#include "cli/talk/interrupts.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace rkllm_mcp {

Interrupts::Interrupts() {
  sigset_t interrupts;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &interrupts, &before_);
  descriptor_ = ::signalfd(-1, &interrupts, SFD_NONBLOCK | SFD_CLOEXEC);
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
}

Interrupts::~Interrupts() {
  taken();  // else it would end the program now
  ::close(descriptor_);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool Interrupts::taken() const {
  signalfd_siginfo signal{};
  return ::read(descriptor_, &signal, sizeof signal) == sizeof signal;
}

}  // namespace rkllm_mcp
