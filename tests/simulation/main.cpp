// Runs schedules and tells of the first that shows what may not be. `simulate --help` says how.
#include "schedule.hpp"
#include "world.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace rkllm_mcp::simulation;

namespace {

constexpr std::size_t kTriesToShrink = 4'000;

struct Options {
  std::uint64_t schedules = 10'000;
  std::chrono::minutes minutes{0};  // 0: so many schedules
  std::uint64_t seed = 1;
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
    } else {
      std::printf(
          "simulate [--schedules N | --minutes N] [--seed N]\n"
          "Runs N schedules, or for N minutes, the first with that seed, each next one with the next.\n");
      std::exit(name == "--help" ? 0 : 2);
    }
  }
  return options;
}

int tell(std::uint64_t seed, const Outcome& failed) {
  const Outcome least = shrink(failed, kTriesToShrink);
  std::printf("seed %llu: %s\n\nThe least schedule that was found to do it (%zu choices of %zu): %s\n",
              static_cast<unsigned long long>(seed), failed.violation.c_str(), least.choices.size(),
              failed.choices.size(), least.violation.c_str());
  for (const std::string& line : least.story) std::printf("  %s\n", line.c_str());
  std::printf("Its choices:");
  for (const auto choice : least.choices) std::printf(" %u", choice);
  std::printf("\nTo run it again: ./dev test --simulate 1 %llu\n", static_cast<unsigned long long>(seed));
  return 1;
}

}  // namespace

int main(int count, char** arguments) {
  const Options options = parse(count, arguments);
  const auto began = std::chrono::steady_clock::now();
  std::uint64_t done = 0;
  const auto goes_on = [&] {
    if (options.minutes.count() == 0) return done < options.schedules;
    return std::chrono::steady_clock::now() - began < options.minutes;
  };
  for (; goes_on(); ++done) {
    const std::uint64_t seed = options.seed + done;
    const Outcome outcome = run_schedule(Choices(seed));
    if (!outcome.violation.empty()) return tell(seed, outcome);
    if (seed % 50 == 0 && run_schedule(Choices(seed)).trace_hash != outcome.trace_hash) {
      std::printf("seed %llu: not the same twice\n", static_cast<unsigned long long>(seed));
      return 1;
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
  std::printf("%llu schedules from seed %llu on, %.0f a second, without a violation. Seen:\n",
              static_cast<unsigned long long>(done), static_cast<unsigned long long>(options.seed),
              static_cast<double>(done) / seconds.count());
  for (const std::string& what : World::seen()) std::printf("  %s\n", what.c_str());
  return 0;
}
