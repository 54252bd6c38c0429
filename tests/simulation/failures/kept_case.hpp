// A shrunk schedule that is kept as a test (tests/simulation/cases): with its fault put back it shows the violation
// that it was shrunk from, and without it shows none. As choices mean something else as soon as the simulation makes
// one more, it is found anew by the same fault.
#pragma once

#include "simulation/world/choices.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace rkllm_mcp::simulation {

struct KeptCase {
  std::string about;       // lines that begin with #, for people
  std::string fault;       // see faults.hpp; empty: there is none for it, and it only has to show no violation
  std::string violation;   // the beginning of what it is told by; empty: any
  std::uint64_t seed = 1;  // it was found with this seed, and a search begins there
  Choices::Made choices;
};

// A file's name ends with .choices, and its lines "# fault: ", "# violation: " and "# seed: " are the above. Throws
// what choices_from() throws, or std::runtime_error if it cannot be read or written.
KeptCase read_case(const std::filesystem::path& file);
void write_case(const std::filesystem::path& file, const KeptCase& kept);
// Those of a folder, in the order of their names.
std::vector<std::filesystem::path> case_files(const std::filesystem::path& folder);

// Looks, from the case's seed on, for schedules that show the fault's violation, and makes the most promising of the
// first few as small as it can in some seconds. Nothing if none of so many schedules shows the violation.
constexpr std::uint64_t kSchedulesToLookAt = 60'000;
std::optional<KeptCase> find_anew(const KeptCase& kept, std::uint64_t schedules = kSchedulesToLookAt);

// What is wrong with it, for people; empty: nothing. `with_fault`: it is also run with its fault put back.
std::string complaint_about(const std::filesystem::path& file, bool with_fault);

}  // namespace rkllm_mcp::simulation
