// Runs schedules and tells of the first that shows what may not be. `simulate --help` says how.
#include "schedule.hpp"
#include "simulation/failures/choice_list.hpp"
#include "simulation/failures/death.hpp"
#include "simulation/failures/failure.hpp"
#include "simulation/failures/growth.hpp"
#include "simulation/failures/kept_case.hpp"
#include "simulation/world/world.hpp"

#include "faults.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace rkllm_mcp::simulation;

namespace {

struct Options {
  std::uint64_t schedules = 10'000;
  std::chrono::minutes minutes{0};  // 0: so many schedules
  std::optional<std::uint64_t> seed{};
  std::string choices{};  // a file; empty: schedules are made from seeds
  std::string keep{};     // a file to write
  std::string renew{};    // a folder of them
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
    } else if (name == "--keep" && i + 1 < count) {
      options.keep = arguments[++i];
    } else if (name == "--renew" && i + 1 < count) {
      options.renew = arguments[++i];
    } else if (name == "--put-back" && i + 1 < count) {
      rkllm_mcp::present_fault = arguments[++i];
    } else {
      std::printf(
          "simulate [--schedules N | --minutes N] [--seed N]\n"
          "Runs N schedules, or for N minutes, the first with that seed, each next one with the next.\n"
          "simulate --choices FILE\n"
          "Runs the one schedule with these choices, as a failure has written them.\n"
          "simulate --put-back FAULT ...\n"
          "Runs them with one of the faults that invariants_test.cpp names.\n"
          "simulate --put-back FAULT [--seed N] --keep FILE.choices\n"
          "Writes a small schedule that shows the fault, as tests/simulation/cases has them. A FILE that is there "
          "says\n"
          "which violation it is to be, and from which seed on it is looked for.\n"
          "simulate --renew FOLDER\n"
          "Makes each such file there anew that does not show its fault any more.\n");
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

int keep(const std::filesystem::path& file, const KeptCase& wanted) {
  const auto found = find_anew(wanted);
  if (!found) {
    std::printf("%s: no schedule from seed %llu on shows \"%s\" of the fault \"%s\"\n", file.c_str(),
                static_cast<unsigned long long>(wanted.seed), wanted.violation.c_str(), wanted.fault.c_str());
    return 1;
  }
  write_case(file, *found);
  std::printf("%s: seed %llu, %zu choices: %s\n", file.c_str(), static_cast<unsigned long long>(found->seed),
              found->choices.size(), found->violation.c_str());
  return 0;
}

// The file says what is looked for, if it is there.
int keep(const Options& options) {
  KeptCase wanted;
  if (std::filesystem::exists(options.keep)) wanted = read_case(options.keep);
  if (!rkllm_mcp::present_fault.empty()) wanted.fault = rkllm_mcp::present_fault;
  if (options.seed) wanted.seed = *options.seed;
  if (wanted.fault.empty()) throw std::runtime_error("--keep: of which fault? see --put-back");
  return keep(options.keep, wanted);
}

int renew(const std::string& folder) {
  int failed = 0;
  for (const auto& file : case_files(folder)) {
    if (complaint_about(file, true).empty()) continue;
    if (const KeptCase kept = read_case(file); kept.fault.empty()) {
      std::printf("%s: %s\n", file.c_str(), complaint_about(file, true).c_str());
      failed = 1;
    } else {
      failed |= keep(file, kept);
    }
    std::fflush(stdout);
  }
  return failed;
}

int run_seeds(const Options& options) {
  const auto began = std::chrono::steady_clock::now();
  const std::uint64_t first = options.seed.value_or(1);
  std::uint64_t done = 0;
  const auto goes_on = [&] {
    if (options.minutes.count() == 0) return done < options.schedules;
    return std::chrono::steady_clock::now() - began < options.minutes;
  };
  Growth growth(first);
  for (; goes_on(); ++done) {
    const std::uint64_t seed = first + done;
    const Outcome outcome = run_seed(seed);
    if (!outcome.violation.empty()) {
      std::printf("%s", report(seed, outcome).c_str());
      return 1;
    }
    growth.done();
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
  if (const std::string grown = growth.report(); !grown.empty()) {
    std::printf("%s", grown.c_str());
    return 1;
  }
  std::printf("%llu schedules from seed %llu on, %.0f a second, without a violation. Seen:\n",
              static_cast<unsigned long long>(done), static_cast<unsigned long long>(first),
              static_cast<double>(done) / seconds.count());
  for (const std::string& what : World::seen()) std::printf("  %s\n", what.c_str());
  return 0;
}

}  // namespace

int main(int count, char** arguments) try {
  const Options options = parse(count, arguments);
  if (!options.keep.empty()) return keep(options);
  if (!options.renew.empty()) return renew(options.renew);
  tell_of_death();
  return options.choices.empty() ? run_seeds(options) : run_choices(options.choices);
} catch (const std::exception& error) {
  std::fprintf(stderr, "simulate: %s\n", error.what());
  return 2;
}
