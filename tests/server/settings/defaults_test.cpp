// settings_defaults.h.in against the list of settings, and that -D reaches the program.
#include "settings/table.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>

using namespace rkllm_mcp;
using test::run_to_end;
using test::TemporaryDirectory;

namespace {

std::string defaults_template() { return test::read_file(test::kSourceDirectory + "/settings_defaults.h.in"); }

// Configures the template by itself, with options such as -DRKLLM_MCP_DEFAULT_HTTP_PORT=9000.
struct Configured {
  int status;
  std::string output;
  std::string header;
};

Configured configure(const std::vector<std::string>& options) {
  const TemporaryDirectory directory;
  test::write_file(directory / "CMakeLists.txt",
                   "cmake_minimum_required(VERSION 3.22)\nproject(defaults LANGUAGES NONE)\n"
                   "include(" +
                       test::kSourceDirectory +
                       "/server/settings/defaults.cmake)\n"
                       "rkllm_mcp_settings_defaults(" +
                       test::kSourceDirectory +
                       "/settings_defaults.h.in "
                       "${CMAKE_BINARY_DIR}/settings_defaults.h)\n");
  std::vector<std::string> args{test::kCmakeCommand, "-S", directory.path(), "-B", directory / "build"};
  args.insert(args.end(), options.begin(), options.end());
  const auto finished = run_to_end({.args = args});
  const std::string header = finished.status == 0 ? test::read_file(directory / "build/settings_defaults.h") : "";
  return {finished.status, finished.out + finished.err, header};
}

}  // namespace

TEST_CASE("every setting has its default in settings_defaults.h.in, and nothing else is there") {
  std::set<std::string> expected;
  for (const Setting& setting : settings_table()) expected.insert(variable_of(setting).substr(sizeof "RKLLM_MCP_" - 1));
  const std::string text = defaults_template();
  const std::regex placeholder("@([A-Z0-9_]+)=[^@\n]*@");
  std::set<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), placeholder), end; it != end; ++it) found.insert((*it)[1]);
  CHECK(found == expected);
}

TEST_CASE("a default can be set when the build is configured") {
  const auto configured = configure({"-DRKLLM_MCP_DEFAULT_HTTP_PORT=9000", "-DRKLLM_MCP_DEFAULT_TCP_ENABLED=OFF",
                                     R"(-DRKLLM_MCP_DEFAULT_SERVER_NAME=a "quoted" name)"});
  INFO(configured.output);
  REQUIRE(configured.status == 0);
  CHECK(configured.header.find("kHttpPort = 9000;") != std::string::npos);
  CHECK(configured.header.find("kTcpEnabled = false;") != std::string::npos);
  CHECK(configured.header.find(R"(kServerName = "a \"quoted\" name";)") != std::string::npos);
  CHECK(configured.header.find("kTcpPort = 8081;") != std::string::npos);
}

TEST_CASE("a default that does not exist stops the configuration") {
  const auto configured = configure({"-DRKLLM_MCP_DEFAULT_HTTP_PROT=9000"});
  CHECK(configured.status != 0);
  CHECK(configured.output.find("RKLLM_MCP_DEFAULT_HTTP_PROT: there is no such default") != std::string::npos);
}

TEST_CASE("a default of the wrong type stops the configuration") {
  const auto configured = configure({"-DRKLLM_MCP_DEFAULT_HTTP_PORT=many"});
  CHECK(configured.status != 0);
  CHECK(configured.output.find("RKLLM_MCP_DEFAULT_HTTP_PORT: expected an integer, found \"many\"") !=
        std::string::npos);
}
