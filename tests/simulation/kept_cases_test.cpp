// The shrunk schedules that are kept (cases/): each shows nothing, and with its fault put back still what it was shrunk
// from.
#include "simulation/failures/kept_case.hpp"

#include "support/catch.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

using namespace rkllm_mcp::simulation;
using rkllm_mcp::test::has_text;

namespace {

const std::filesystem::path kCases = std::filesystem::path(SIMULATION_FOLDER) / "cases";
// A sanitizer finds what was put back as well.
#ifdef RKLLM_MCP_FEWER_SCHEDULES
constexpr bool kWithFault = false;
#else
constexpr bool kWithFault = true;
#endif

}  // namespace

TEST_CASE("what was found once is not there any more, and each kept case still shows it when the fault is put back") {
  const auto files = case_files(kCases);
  CHECK(files.size() >= 10);
  for (const auto& file : files) {
    INFO(file.filename().string());
    CHECK(complaint_about(file, kWithFault) == "");
    CHECK_FALSE(read_case(file).choices.empty());
  }
}

#ifndef RKLLM_MCP_FEWER_SCHEDULES
TEST_CASE("a kept case whose choices mean something else is told of, and is found anew") {
  std::string folder = (std::filesystem::temp_directory_path() / "cases-XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  const auto file = std::filesystem::path(folder) / "a.choices";
  KeptCase kept;
  kept.about = "# What it is about.\n";
  kept.fault = "what follows another protocol's first line is executed";
  kept.choices = {1, 2, 3};
  write_case(file, kept);
  CHECK_THAT(complaint_about(file, true), has_text("the case a.choices means something else"));
  CHECK_THAT(complaint_about(file, true), has_text("/simulate --renew tests/simulation/cases"));
  CHECK(complaint_about(file, false) == "");
  const auto found = find_anew(read_case(file), 100);
  REQUIRE(found.has_value());
  write_case(file, *found);
  CHECK(complaint_about(file, true) == "");
  const KeptCase read = read_case(file);
  CHECK(read.about == kept.about);
  CHECK(read.seed == found->seed);
  CHECK(read.choices == found->choices);
  CHECK_THAT(read.violation, has_text("behind another protocol"));
  CHECK_FALSE(find_anew(KeptCase{{}, "no such fault", {}, 1, {}}, 10).has_value());
  std::filesystem::remove_all(folder);
}
#endif
