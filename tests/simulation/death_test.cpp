// What is told of a schedule that ends the program, or never ends, also where Catch2 handles signals itself.
#include "simulation/failures/death.hpp"
#include "schedule.hpp"
#include "simulation/failures/choice_list.hpp"

#include "faults.hpp"
#include "support/catch.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace rkllm_mcp::simulation;
using rkllm_mcp::test::has_text;

namespace {

constexpr const char* kFaultOfChild = "SIMULATION_PUTS_BACK";

// In each run of these tests, and with the fault that one of them puts back in another run.
[[maybe_unused]] const bool deaths_are_told = [] {
  tell_of_death();
  if (const char* fault = std::getenv(kFaultOfChild)) rkllm_mcp::present_fault = fault;
  return true;
}();

// How another process ends.
struct Death {
  int status = 0;
  std::string told;     // on its standard error
  std::string printed;  // on its standard output
  std::string folder;   // its current one, which is gone
  std::string choices;
};

// That of a process which does `work`; its choices are in a file of that name.
Death death_of(const std::string& choices, const std::function<void()>& work) {
  Death death;
  death.folder = (std::filesystem::temp_directory_path() / "simulation-XXXXXX").string();
  if (::mkdtemp(death.folder.data()) == nullptr) throw std::runtime_error("no folder");
  const auto content = [&death](const std::string& name) {
    std::ifstream file(std::filesystem::path(death.folder) / name);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  std::fflush(nullptr);  // else the child writes it as well
  const pid_t child = ::fork();
  if (child == 0) {
    std::filesystem::current_path(death.folder);
    if (std::freopen("told", "w", stderr) == nullptr || std::freopen("printed", "w", stdout) == nullptr) std::_Exit(0);
    work();
    std::_Exit(0);
  }
  ::waitpid(child, &death.status, 0);
  death.told = content("told");
  death.printed = content("printed");
  death.choices = content(choices);
  std::filesystem::remove_all(death.folder);
  return death;
}

}  // namespace

TEST_CASE("a schedule that ends the program, or never ends, is told of") {
  for (const char* fault : {"the program crashes", "a step never ends"}) {
    INFO(fault);
    const Death death = death_of("simulation-7.choices", [fault] {
      tell_of_death(1);
      rkllm_mcp::present_fault = fault;
      run_schedule(Choices(7));
    });
    CHECK(WIFSIGNALED(death.status));
    CHECK_THAT(death.told, has_text("commit: "));
    CHECK_THAT(death.told, has_text("seed: 7\n"));
    CHECK_THAT(death.told, has_text("Its last steps:\n  "));
    CHECK_THAT(death.told, has_text("--put-back \"" + std::string(fault) + "\" --choices " + death.folder +
                                    "/simulation-7.choices\n"));
    CHECK_FALSE(choices_from(death.choices).empty());
  }
}

TEST_CASE("given choices that end the program are told of as well") {
  const Choices::Made choices{0, 0, 1, 2};
  const Death death = death_of("simulation-given.choices", [&choices] {
    rkllm_mcp::present_fault = "the program crashes";
    run_schedule(Choices(choices));
  });
  CHECK(WIFSIGNALED(death.status));
  CHECK_THAT(death.told, has_text("seed: none"));
  CHECK_THAT(death.told, has_text(" --choices " + death.folder + "/simulation-given.choices\n"));
  const Choices::Made made = choices_from(death.choices);
  REQUIRE(made.size() > choices.size());
}

TEST_CASE("a test of schedules that crashes tells which schedule it was, and Catch2 which test") {
  const char* const test = "a schedule is the same each time, from its seed and from its choices";
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const Death death = death_of("simulation-1.choices", [test, &self] {
    ::setenv(kFaultOfChild, "the program crashes", 1);
    // Catch2 takes a comma for the end of a name.
    std::string name(test);
    for (std::size_t comma = name.find(','); comma != std::string::npos; comma = name.find(',', comma + 2)) {
      name.insert(comma, "\\");
    }
    ::execl(self.c_str(), self.c_str(), name.c_str(), nullptr);
  });
  CHECK(WIFSIGNALED(death.status));
  CHECK(WTERMSIG(death.status) == SIGABRT);
  CHECK_THAT(death.told, has_text("commit: "));
  CHECK_THAT(death.told, has_text("seed: 1\nviolation: the program was ended by signal 6\nIts last steps:\n  "));
  CHECK_THAT(death.told, has_text("To run it again: "));
  CHECK_THAT(death.told,
             has_text("--put-back \"the program crashes\" --choices " + death.folder + "/simulation-1.choices\n"));
  CHECK_THAT(death.printed, has_text(test));
  CHECK_FALSE(choices_from(death.choices).empty());
}
