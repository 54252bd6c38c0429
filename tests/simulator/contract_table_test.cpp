// CONTRACT.md, the table of what is known about the runtime, against the test cases that there are.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "surroundings.hpp"

#include <algorithm>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace simulated;

namespace {

// The test cases of a program, as it lists them itself.
std::set<std::string> test_cases_of(const std::string& program) {
#if __has_include(<catch2/catch_all.hpp>)
  const std::string options = " --list-tests --verbosity quiet";
#else
  const std::string options = " --list-test-names-only";
#endif
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(("'" + program + "'" + options).c_str(), "r"), pclose);
  REQUIRE(pipe);
  std::string output;
  for (int byte = fgetc(pipe.get()); byte != EOF; byte = fgetc(pipe.get())) output.push_back(static_cast<char>(byte));
  std::set<std::string> names;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(" \""));
    line.erase(line.find_last_not_of(" \"") + 1);
    if (!line.empty()) names.insert(line);
  }
  CHECK_FALSE(names.empty());
  return names;
}

// Those of this very program, and of the programs for each ABI set.
std::set<std::string> test_cases() {
  std::set<std::string> names = test_cases_of(std::filesystem::read_symlink("/proc/self/exe").string());
  std::istringstream programs(SIMULATOR_SET_TESTS);
  for (std::string program; std::getline(programs, program, ':');)
    names.merge(test_cases_of(rkllm_mcp::test::built_program(program)));
  return names;
}

struct Statement {
  std::string text;
  std::string shown_by;  // test cases in `quotes of code`, or a reason
};

struct Section {
  std::string title;
  std::vector<Statement> statements;
};

std::vector<Section> sections() {
  std::vector<Section> list;
  std::istringstream lines(read(SIMULATOR_CONTRACT));
  const std::regex row(R"(\| (.+) \| (.+) \|)");
  for (std::string line; std::getline(lines, line);) {
    std::smatch cells;
    if (line.rfind("## ", 0) == 0) {
      list.push_back({line.substr(3), {}});
    } else if (!list.empty() && std::regex_match(line, cells, row) && cells[1] != "statement") {
      list.back().statements.push_back({cells[1], cells[2]});
    }
  }
  return list;
}

std::set<std::string> names_in(const std::string& cell) {
  std::set<std::string> names;
  const std::regex quoted("`([^`]+)`");
  for (std::sregex_iterator at(cell.begin(), cell.end(), quoted), end; at != end; ++at) names.insert((*at)[1]);
  return names;
}

std::set<std::string> named_in_table() {
  std::set<std::string> names;
  for (const Section& section : sections()) {
    for (const Statement& statement : section.statements) names.merge(names_in(statement.shown_by));
  }
  return names;
}

// Those of `some` that are not in `all`.
std::vector<std::string> missing(const std::set<std::string>& some, const std::set<std::string>& all) {
  std::vector<std::string> left;
  std::set_difference(some.begin(), some.end(), all.begin(), all.end(), std::back_inserter(left));
  return left;
}

}  // namespace

TEST_CASE("every test case that CONTRACT.md names exists") {
  CHECK(missing(named_in_table(), test_cases()) == std::vector<std::string>{});
}

TEST_CASE("every test case is named in CONTRACT.md") {
  const std::set<std::string> cases = test_cases();
  CHECK(cases.size() > 150);
  CHECK(missing(cases, named_in_table()) == std::vector<std::string>{});
}

TEST_CASE("each of the 19 sections of CONTRACT.md has statements, and each of those a test case or a reason") {
  const std::vector<Section> all = sections();
  REQUIRE(all.size() == 20);
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO(all[i].title);
    if (i < 19) CHECK(all[i].title.rfind(std::to_string(i + 1) + ". ", 0) == 0);
    CHECK_FALSE(all[i].statements.empty());
    for (const Statement& statement : all[i].statements) {
      INFO(statement.text);
      const bool has_reason = statement.shown_by.rfind("not simulated because ", 0) == 0;
      CHECK(has_reason == names_in(statement.shown_by).empty());
    }
  }
}
