#include "failure.hpp"

#include "choice_list.hpp"

#include "faults.hpp"

#include <commit.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace rkllm_mcp::simulation {
namespace {

std::string commit() {
  return std::string_view(kCommit).empty() ? "a commit that was not known when this was built" : std::string(kCommit);
}

}  // namespace

std::string choice_file_of(const std::optional<std::uint64_t>& seed) {
  const std::string name = seed ? std::to_string(*seed) : "given";
  return std::filesystem::absolute("simulation-" + name + ".choices").string();
}

std::string program() { return std::filesystem::read_symlink("/proc/self/exe").replace_filename("simulate").string(); }

std::string how_to_run_again(const std::string& file) {
  const std::string fault(present_fault);
  return "To run it again: " + (fault.empty() ? "./dev test --simulate " + file
                                              : program() + " --put-back \"" + fault + "\" --choices " + file);
}

std::string how_to_run_whole(std::uint64_t seed) {
  const std::string fault(present_fault);
  return "And whole: " + (fault.empty() ? "./dev test --simulate 1 " + std::to_string(seed)
                                        : program() + " --put-back \"" + fault + "\" --seed " + std::to_string(seed));
}

std::string which_commit() { return "commit: " + commit() + "\n"; }

std::string which(const std::optional<std::uint64_t>& seed) {
  return which_commit() + "seed: " + (seed ? std::to_string(*seed) : "none, its choices were given") + "\n";
}

std::string told(const Failure& failure) {
  const Outcome& least = failure.least;
  std::string text = which(failure.seed);
  text += "violation: " + failure.outcome.violation + "\n\nThe least schedule that was found to do it (" +
          std::to_string(least.choices.size()) + " choices of " + std::to_string(failure.outcome.choices.size()) +
          "): " + least.violation + "\nIts last steps:\n";
  for (const std::string& line : least.story) text += "  " + line + "\n";
  return text;
}

std::string choice_file(const std::optional<std::uint64_t>& seed, const std::string& violation,
                        const Choices::Made& choices) {
  std::string line = violation;
  std::replace(line.begin(), line.end(), '\n', ' ');
  return "# " + line + "\n# commit " + commit() + (seed ? ", seed " + std::to_string(*seed) : "") + "\n" +
         to_text(choices) + "\n";
}

std::string report(const std::optional<std::uint64_t>& seed, const Outcome& failed, const std::string& given,
                   std::size_t tries) {
  const Failure failure{seed, failed, shrink(failed, tries)};
  const std::string choices = choice_file(seed, failure.least.violation, failure.least.choices);
  const std::string file = seed ? choice_file_of(seed) : given;
  if (seed) std::ofstream(file) << choices;
  std::string text = told(failure) + "\nIts choices, " + (file.empty() ? "for a FILE" : "which are in " + file) +
                     ":\n" + choices + "\n" + how_to_run_again(file.empty() ? "FILE" : file) + "\n";
  if (seed) text += how_to_run_whole(*seed) + "\n";
  return text;
}

}  // namespace rkllm_mcp::simulation
