#include "kept_case.hpp"

#include "choice_list.hpp"
#include "failure.hpp"
#include "simulation/schedule.hpp"
#include "simulation/world/fault.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace rkllm_mcp::simulation {
namespace {

constexpr std::string_view kFaultLine = "# fault: ";
constexpr std::string_view kViolationLine = "# violation: ";
constexpr std::string_view kSeedLine = "# seed: ";
constexpr std::size_t kLongestLine = 118;
// Of the first kSchedulesToChooseFrom schedules that show the violation, that one is kept which promises to become the
// smallest. The search ends kSchedulesBehindFirst schedules behind the first of them at the latest.
constexpr int kSchedulesToChooseFrom = 40;
constexpr std::uint64_t kSchedulesBehindFirst = 3'000;
constexpr std::size_t kTriesToCompare = 60;
constexpr std::size_t kTriesToKeep = 20'000;

// The words by which a violation is known, without what it was found in.
std::string known_by(const std::string& violation) {
  std::string words = violation.substr(0, violation.find('"'));
  std::replace(words.begin(), words.end(), '\n', ' ');
  words.resize(words.find_last_not_of(" {") + 1);
  return words;
}

std::size_t harmful(const Choices::Made& choices) {
  return choices.size() - static_cast<std::size_t>(std::count(choices.begin(), choices.end(), 0U));
}

// The same words in lines that can be read.
std::string in_lines(const std::string& text) {
  std::istringstream words(text);
  std::string lines;
  std::size_t length = 0;
  for (std::string word; words >> word;) {
    const bool is_full = length + 1 + word.size() > kLongestLine;
    if (!lines.empty()) lines += is_full ? '\n' : ' ';
    length = is_full ? word.size() : length + 1 + word.size();
    lines += word;
  }
  return lines;
}

}  // namespace

KeptCase read_case(const std::filesystem::path& file) {
  std::ifstream input(file);
  if (!input) throw std::runtime_error("cannot read " + file.string());
  const std::string text{std::istreambuf_iterator<char>(input), {}};
  KeptCase kept;
  kept.choices = choices_from(text);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto rest_behind = [&line](std::string_view name) { return line.substr(name.size()); };
    if (line.starts_with(kFaultLine)) {
      kept.fault = rest_behind(kFaultLine);
    } else if (line.starts_with(kViolationLine)) {
      kept.violation = rest_behind(kViolationLine);
    } else if (line.starts_with(kSeedLine)) {
      kept.seed = std::stoull(rest_behind(kSeedLine));
    } else if (line.starts_with('#')) {
      kept.about += line + "\n";
    }
  }
  return kept;
}

void write_case(const std::filesystem::path& file, const KeptCase& kept) {
  std::ofstream output(file);
  output << kept.about;
  if (!kept.fault.empty()) output << kFaultLine << kept.fault << "\n";
  if (!kept.violation.empty()) output << kViolationLine << kept.violation << "\n";
  output << kSeedLine << kept.seed << "\n" << in_lines(to_text(kept.choices)) << "\n";
  if (!output.flush()) throw std::runtime_error("cannot write " + file.string());
}

std::vector<std::filesystem::path> case_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".choices") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::optional<KeptCase> find_anew(const KeptCase& kept, std::uint64_t schedules) {
  const Fault fault(kept.fault);
  Outcome smallest;
  KeptCase found = kept;
  int seen = 0;
  std::uint64_t last = kept.seed + schedules;
  for (std::uint64_t seed = kept.seed; seed < last && seen < kSchedulesToChooseFrom; ++seed) {
    const Outcome outcome = run_schedule(Choices(seed));
    if (outcome.violation.empty()) continue;
    if (!kept.violation.empty() && !is_alike(outcome.violation, kept.violation)) continue;
    if (seen++ == 0) last = std::min(last, seed + kSchedulesBehindFirst);
    Outcome least = shrink(outcome, kTriesToCompare);
    if (seen > 1 && harmful(least.choices) >= harmful(smallest.choices)) continue;
    smallest = std::move(least);
    found.seed = seed;
  }
  if (seen == 0) return std::nullopt;
  const Outcome least = shrink(smallest, kTriesToKeep);
  found.violation = known_by(least.violation);
  found.choices = least.choices;
  return found;
}

std::string complaint_about(const std::filesystem::path& file, bool with_fault) {
  const KeptCase kept = read_case(file);
  const std::string name = "the case " + file.filename().string();
  if (const Outcome outcome = run_schedule(Choices(kept.choices)); !outcome.violation.empty()) {
    return name + " shows a violation without any fault put back: " + outcome.violation;
  }
  if (!with_fault || kept.fault.empty()) return {};
  const Fault fault(kept.fault);
  const Outcome outcome = run_schedule(Choices(kept.choices));
  if (!outcome.violation.empty() && (kept.violation.empty() || is_alike(outcome.violation, kept.violation))) return {};
  return name + " means something else since the simulation makes other choices: with its fault put back it shows " +
         (outcome.violation.empty() ? "nothing" : "\"" + outcome.violation + "\"") + " and not \"" + kept.violation +
         "\". Find it anew, from the top of the repository: " + program() +
         " --renew tests/simulation/cases; or this one " + "alone: " + program() + " --put-back \"" + kept.fault +
         "\" --keep tests/simulation/cases/" + file.filename().string();
}

}  // namespace rkllm_mcp::simulation
