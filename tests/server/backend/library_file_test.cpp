#include "backend/library_file.hpp"

#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <filesystem>
#include <fstream>
#include <string>

using namespace rkllm_mcp;

namespace {

std::string write_file(const std::string& name, const std::string& content) {
  const auto path = std::filesystem::temp_directory_path() / ("rkllm-mcp-test-" + name);
  std::ofstream(path, std::ios::binary) << content;
  return path.string();
}

std::string refusal(const std::string& path) {
  try {
    inspect_library(path);
  } catch (const RpcError& error) {
    CHECK(error.code() == ErrorCode::kRuntimeUnavailable);
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("the version is read from anywhere in the file") {
  const std::string padding(1'000'000, '\0');
  const auto path = write_file("version.so", padding + "RKLLM SDK (version: 1.2.3 | build" + padding);
  const LibraryFile file = inspect_library(path);
  CHECK(file.version == "1.2.3");
  CHECK_FALSE(file.simulated);
}

TEST_CASE("a simulator is recognised by its file") {
  CHECK(inspect_library(write_file("sim.so", "RKLLM SDK (version: 1.3.0 | SIMULATED)")).simulated);
  CHECK(inspect_library(RKLLM_SIM_LIBRARY).simulated);
  CHECK(inspect_library(RKLLM_SIM_LIBRARY).version == "1.3.0");
}

TEST_CASE("what is no runtime library is refused with the reason") {
  CHECK(refusal("/no/such/file.so").find("No such file") != std::string::npos);
  CHECK(refusal("/tmp").find("not a file") != std::string::npos);
  CHECK(refusal(write_file("other.so", "just a library")).find("not an RKLLM runtime") != std::string::npos);
}

TEST_CASE("an explicit library comes first, and nothing replaces one that is missing") {
  const auto path = write_file("explicit.so", "RKLLM SDK (version: 1.3.0 |");
  CHECK(find_library({path, LibrarySearch::Simulator::kAsFallback}).path == path);
  CHECK_THROWS_AS(find_library({"/no/such/file.so", LibrarySearch::Simulator::kAsFallback}), RpcError);
}
