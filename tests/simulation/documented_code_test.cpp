// The code that docs/simulation.md quotes stands in the files that it names.
#include "support/catch.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace {

const std::filesystem::path kRoot = std::filesystem::path(SIMULATION_FOLDER) / "../..";

std::string without_indent(const std::string& line) {
  const std::size_t begin = line.find_first_not_of(' ');
  return begin == std::string::npos ? "" : line.substr(begin);
}

std::set<std::string> lines_of(const std::filesystem::path& path) {
  std::set<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.insert(without_indent(line));
  return lines;
}

}  // namespace

TEST_CASE("the code that the simulation's page quotes is the code") {
  std::ifstream page(kRoot / "docs/simulation.md");
  std::set<std::string> code;
  std::size_t quoted = 0;
  bool is_code = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) {
      is_code = line == "```cpp";
    } else if (is_code && line.starts_with("// ")) {
      code = lines_of(kRoot / line.substr(3));
    } else if (is_code) {
      INFO(line);
      CHECK(code.count(without_indent(line)) == 1);
      ++quoted;
    }
  }
  CHECK(quoted > 15);
}
