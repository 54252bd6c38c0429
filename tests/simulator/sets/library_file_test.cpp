// What can be told about a library from its file: what it exports, its version, and that it is a simulator.
#include "simulator/surroundings.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"

#include <array>
#include <cstdio>
#include <memory>
#include <regex>
#include <set>
#include <sstream>

using namespace simulated;

namespace {

const std::string kLibrary = rkllm_mcp::test::built_library(SIMULATED_BY);

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  REQUIRE(pipe);
  std::string output;
  std::array<char, 4096> buffer{};
  while (const std::size_t size = fread(buffer.data(), 1, buffer.size(), pipe.get()))
    output.append(buffer.data(), size);
  return output;
}

std::set<std::string> declared_functions() {
  std::set<std::string> names;
  const std::regex declaration(R"((?:int|RKLLMParam) (rkllm_\w+)\(.*)");
  std::istringstream lines(read(SIMULATED_HEADER));
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    if (std::regex_match(line, parts, declaration)) names.insert(parts[1]);
  }
  return names;
}

}  // namespace

TEST_CASE("the library exports the functions of its header and nothing else") {
  std::set<std::string> names;
  std::istringstream lines(output_of("nm -D --defined-only '" + kLibrary + "'"));
  for (std::string line; std::getline(lines, line);) names.insert(line.substr(line.rfind(' ') + 1));
  CHECK(names.size() == SIMULATED_FUNCTIONS);
  CHECK(names == declared_functions());
}

TEST_CASE("the library's file says its version, and that it is simulated") {
  const std::string bytes = read(kLibrary);
  const auto version = bytes.find("RKLLM SDK (version: ");
  REQUIRE(version != std::string::npos);
  const std::string expected = "RKLLM SDK (version: " SIMULATED_VERSION " | SIMULATED: rkllm simulator";
  CHECK(bytes.substr(version, expected.size()) == expected);
}
