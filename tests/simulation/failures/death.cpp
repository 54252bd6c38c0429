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
int longest_schedule = 0;  // seconds; 0: nothing is told

// Not all of this may be called by a handler of signals; but nothing else will be done any more.
void tell(const std::string& how) {
  if (choices_now == nullptr) return;
  const auto& seed = choices_now->seed();
  std::string text = "\n" + which(seed) + "violation: " + how + "\nIts last steps:\n";
  for (const std::string& line : world_now->story()) text += "  " + line + "\n";
  const std::string file = choice_file_of(seed);
  std::ofstream(file) << choice_file(seed, how, choices_now->made());
  text += "\n" + how_to_run_again(file) + "\n";
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

#ifdef RKLLM_MCP_HEAP_IS_WATCHED
constexpr std::array kSignals{SIGABRT, SIGPROF};
#else
constexpr std::array kSignals{SIGABRT, SIGPROF, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
#endif
std::array<struct sigaction, kSignals.size()> handled_before{};  // by whoever runs the schedules, such as Catch2
stack_t stack_before{};

void handle_as_before() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals.at(i), &handled_before.at(i), nullptr);
}

void on_signal(int signal) {
  handle_as_before();
  tell(signal == SIGPROF ? "it takes too long" : "the program was ended by signal " + std::to_string(signal));
  std::raise(signal);  // comes when this has returned
}

void handle_signals() {
  static std::array<char, std::size_t{256} << 10U> stack;  // that of the schedule may be used up
  const stack_t place{stack.data(), 0, stack.size()};
  ::sigaltstack(&place, &stack_before);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK;
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals.at(i), &action, &handled_before.at(i));
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
#endif
}

Watched::Watched(const Choices& choices, const World& world) {
  choices_now = &choices;
  world_now = &world;
  if (longest_schedule == 0) return;
  // Not for longer than a schedule: whoever runs them has handlers of its own, which come and go.
  handle_signals();
  limit_time(longest_schedule);
}

Watched::~Watched() {
  choices_now = nullptr;
  world_now = nullptr;
  if (longest_schedule == 0) return;
  limit_time(0);
  handle_as_before();
  ::sigaltstack(&stack_before, nullptr);
}

}  // namespace rkllm_mcp::simulation
