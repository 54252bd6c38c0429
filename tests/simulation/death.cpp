#include "death.hpp"

#include "failure.hpp"

#include <sys/time.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <string>

#ifdef RKLLM_MCP_HEAP_IS_WATCHED
#include <sanitizer/common_interface_defs.h>
#endif

namespace rkllm_mcp::simulation {
namespace {

const Choices* choices_now = nullptr;  // null: no schedule is being run
const World* world_now = nullptr;
int longest_schedule = 0;  // seconds; 0: any

// Not all of this may be called by a handler of signals; but nothing else will be done any more.
void tell(const std::string& how) {
  if (choices_now == nullptr) return;
  const auto& seed = choices_now->seed();
  std::string text = "\n" + which(seed) + "violation: " + how + "\nIts last steps:\n";
  for (const std::string& line : world_now->story()) text += "  " + line + "\n";
  if (seed) {
    const std::string file = choice_file_of(*seed);
    std::ofstream(file) << choice_file(seed, how, choices_now->made());
    text += "\nTo run it again: ./dev test --simulate " + file + "\n";
  }
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

void on_signal(int signal) {
  tell(signal == SIGPROF ? "it takes too long" : "the program was ended by signal " + std::to_string(signal));
  std::raise(signal);
}

void limit_time(int seconds) {
  const itimerval time{{}, {seconds, 0}};
  ::setitimer(ITIMER_PROF, &time, nullptr);
}

}  // namespace

void tell_of_death(int longest_seconds) {
  longest_schedule = longest_seconds;
#ifdef RKLLM_MCP_HEAP_IS_WATCHED  // the sanitizer says what it has found, and then calls this
  __sanitizer_set_death_callback([] { tell("a sanitizer has ended the program"); });
  constexpr std::array kSignals{SIGABRT, SIGPROF};
#else
  constexpr std::array kSignals{SIGABRT, SIGPROF, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
#endif
  static std::array<char, std::size_t{256} << 10U> stack;  // that of the schedule may be used up
  const stack_t place{stack.data(), 0, stack.size()};
  ::sigaltstack(&place, nullptr);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  for (const int signal : kSignals) ::sigaction(signal, &action, nullptr);
}

Watched::Watched(const Choices& choices, const World& world) {
  choices_now = &choices;
  world_now = &world;
  if (longest_schedule > 0) limit_time(longest_schedule);
}

Watched::~Watched() {
  choices_now = nullptr;
  world_now = nullptr;
  if (longest_schedule > 0) limit_time(0);
}

}  // namespace rkllm_mcp::simulation
