#include "cli/talk/interrupts.hpp"

#include "support/catch.hpp"

#include <csignal>

using rkllm_mcp::Interrupts;

namespace {

bool blocks_interrupts() {
  sigset_t blocked;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return sigismember(&blocked, SIGINT) == 1;
}

bool has_interrupt_pending() {
  sigset_t pending;
  ::sigpending(&pending);
  return sigismember(&pending, SIGINT) == 1;
}

}  // namespace

TEST_CASE("an interrupt ends nothing, and is told once") {
  const Interrupts interrupts;
  CHECK_FALSE(interrupts.taken());
  ::raise(SIGINT);
  CHECK(interrupts.taken());
  CHECK_FALSE(interrupts.taken());
  ::raise(SIGINT);
  ::raise(SIGINT);
  CHECK(interrupts.taken());
}

TEST_CASE("an interrupt that nobody has asked for is dropped at the end, and later ones do what they did before") {
  REQUIRE_FALSE(blocks_interrupts());
  {
    const Interrupts interrupts;
    CHECK(blocks_interrupts());
    ::raise(SIGINT);
    CHECK(has_interrupt_pending());
  }
  CHECK_FALSE(has_interrupt_pending());
  CHECK_FALSE(blocks_interrupts());
}

TEST_CASE("interrupts inside of others are told to either, and stay blocked until the outer one ends") {
  const Interrupts outer;
  {
    const Interrupts inner;
    ::raise(SIGINT);
    CHECK(inner.taken());
  }
  CHECK(blocks_interrupts());
  ::raise(SIGINT);
  CHECK(outer.taken());
}
