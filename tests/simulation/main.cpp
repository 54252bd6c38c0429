// Runs schedules and tells of the first that shows what may not be. `simulate --help` says how.
#include "choice_list.hpp"
#include "death.hpp"
#include "failure.hpp"
#include "schedule.hpp"
#include "sim_heap.hpp"
#include "world.hpp"

#include "put_back.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace rkllm_mcp::simulation;

namespace {

struct Options {
  std::uint64_t schedules = 10'000;
  std::chrono::minutes minutes{0};  // 0: so many schedules
  std::uint64_t seed = 1;
  std::string choices{};  // a file; empty: schedules are made from seeds
};

Options parse(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view name = arguments[i];
    const auto value = [&] { return std::strtoull(++i < count ? arguments[i] : "0", nullptr, 10); };
    if (name == "--schedules") {
      options.schedules = value();
    } else if (name == "--minutes") {
      options.minutes = std::chrono::minutes(value());
    } else if (name == "--seed") {
      options.seed = value();
    } else if (name == "--choices" && i + 1 < count) {
      options.choices = arguments[++i];
    } else if (name == "--put-back" && i + 1 < count) {
      rkllm_mcp::fault_put_back = arguments[++i];
    } else {
      std::printf(
          "simulate [--schedules N | --minutes N] [--seed N]\n"
          "Runs N schedules, or for N minutes, the first with that seed, each next one with the next.\n"
          "simulate --choices FILE\n"
          "Runs the one schedule with these choices, as a failure has written them.\n"
          "simulate --put-back FAULT ...\n"
          "Runs them with one of the faults that invariants_test.cpp names.\n");
      std::exit(name == "--help" ? 0 : 2);
    }
  }
  return options;
}

int run_choices(const std::string& file) {
  std::ifstream input(file);
  if (!input) throw std::runtime_error("cannot read " + file);
  const std::string text{std::istreambuf_iterator<char>(input), {}};
  const Outcome outcome = run_schedule(Choices(choices_from(text)));
  if (!outcome.violation.empty()) {
    std::printf("%s", report(std::nullopt, outcome, file).c_str());
    return 1;
  }
  std::printf("%s: no violation\n", file.c_str());
  return 0;
}

int run_seeds(const Options& options) {
  const auto began = std::chrono::steady_clock::now();
  std::uint64_t done = 0;
  const auto goes_on = [&] {
    if (options.minutes.count() == 0) return done < options.schedules;
    return std::chrono::steady_clock::now() - began < options.minutes;
  };
  std::size_t allocated = 0;
  for (; goes_on(); ++done) {
    if (done == kFirstSchedules) allocated = allocated_bytes();
    const std::uint64_t seed = options.seed + done;
    const Outcome outcome = run_seed(seed);
    if (!outcome.violation.empty()) {
      std::printf("%s", report(seed, outcome).c_str());
      return 1;
    }
  }
  if (done > kFirstSchedules && allocated_bytes() > allocated + kMayStay) {
    std::printf("%s%zu bytes stay allocated that nobody can need, of %llu schedules from seed %llu on\n",
                which_commit().c_str(), allocated_bytes() - allocated, static_cast<unsigned long long>(done),
                static_cast<unsigned long long>(options.seed));
    return 1;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
  std::printf("%llu schedules from seed %llu on, %.0f a second, without a violation. Seen:\n",
              static_cast<unsigned long long>(done), static_cast<unsigned long long>(options.seed),
              static_cast<double>(done) / seconds.count());
  for (const std::string& what : World::seen()) std::printf("  %s\n", what.c_str());
  return 0;
}

}  // namespace

int main(int count, char** arguments) try {
  const Options options = parse(count, arguments);
  tell_of_death();
  return options.choices.empty() ? run_seeds(options) : run_choices(options.choices);
} catch (const std::exception& error) {
  std::fprintf(stderr, "simulate: %s\n", error.what());
  return 2;
}
