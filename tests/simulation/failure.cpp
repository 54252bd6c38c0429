#include "failure.hpp"

#include "choice_list.hpp"

#include <commit.hpp>

#include <string_view>

namespace rkllm_mcp::simulation {
namespace {

std::string commit() {
  return std::string_view(kCommit).empty() ? "a commit that was not known when this was built" : std::string(kCommit);
}

}  // namespace

std::string told(const Failure& failure) {
  const Outcome& least = failure.least;
  std::string text = "commit: " + commit() + "\n";
  text += "seed: " + (failure.seed ? std::to_string(*failure.seed) : "none, its choices were given") + "\n";
  text += "violation: " + failure.outcome.violation + "\n\nThe least schedule that was found to do it (" +
          std::to_string(least.choices.size()) + " choices of " + std::to_string(failure.outcome.choices.size()) +
          "): " + least.violation + "\nIts last steps:\n";
  for (const std::string& line : least.story) text += "  " + line + "\n";
  return text;
}

std::string choice_file(const Failure& failure) {
  std::string violation;
  for (const char byte : failure.least.violation) violation += byte == '\n' ? ' ' : byte;
  return "# " + violation + "\n# commit " + commit() + (failure.seed ? ", seed " + std::to_string(*failure.seed) : "") +
         "\n" + to_text(failure.least.choices) + "\n";
}

}  // namespace rkllm_mcp::simulation
