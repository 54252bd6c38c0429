#include "app/endpoints/ports_file.hpp"

#include "support/catch.hpp"
#include "support/process.hpp"

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

const Json kPorts{{"tcp", 8081}, {"http", 8080}, {"unix", "/run/\"odd\"\nname"}, {"pid", 7}};

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& each : std::filesystem::directory_iterator(folder)) names.push_back(each.path().filename());
  return names;
}

}  // namespace

TEST_CASE("a ports file is JSON in the order in which it was said, and nothing is left beside it") {
  const TemporaryDirectory directory;
  const std::string path = directory / "ports.json";
  write_ports_file(path, kPorts);
  const std::string text = read_file(path);
  CHECK(Json::parse(text).dump() == kPorts.dump());
  CHECK(text.back() == '\n');
  CHECK(names_in(directory.path()) == std::vector<std::string>{"ports.json"});
}

TEST_CASE("whoever reads a ports file while it is written anew reads all of the one before") {
  const TemporaryDirectory directory;
  const std::string path = directory / "ports.json";
  write_ports_file(path, kPorts);
  std::ifstream reading(path);
  REQUIRE(reading.is_open());
  write_ports_file(path, Json{{"tcp", 1}});
  const std::string before{std::istreambuf_iterator<char>(reading), {}};
  CHECK(Json::parse(before) == kPorts);
  CHECK(Json::parse(read_file(path)) == Json{{"tcp", 1}});
}

TEST_CASE("a ports file that cannot be written is refused with its path and the reason") {
  const TemporaryDirectory directory;
  const std::string path = directory / "no such folder/ports.json";
  CHECK_THROWS_AS(write_ports_file(path, kPorts), std::runtime_error);
  CHECK_THROWS_WITH(write_ports_file(path, kPorts),
                    "cannot write the ports file " + path + ": No such file or directory");
}

TEST_CASE("a ports file for which the disk has no room leaves the one before as it was") {
  const TemporaryDirectory directory;
  const std::string path = directory / "ports.json";
  write_ports_file(path, Json{{"tcp", 1}});
  std::filesystem::create_symlink("/dev/full", path + "." + std::to_string(::getpid()));
  CHECK_THROWS_WITH(write_ports_file(path, kPorts),
                    "cannot write the ports file " + path + ": No space left on device");
  CHECK(Json::parse(read_file(path)) == Json{{"tcp", 1}});
}

TEST_CASE("a ports file that cannot be put in its place leaves nothing behind") {
  const TemporaryDirectory directory;
  const std::string path = directory / "ports.json";
  std::filesystem::create_directories(path + "/full");
  CHECK_THROWS_WITH(write_ports_file(path, kPorts), has_text("cannot write the ports file " + path + ": "));
  CHECK(names_in(directory.path()) == std::vector<std::string>{"ports.json"});
  CHECK(names_in(path) == std::vector<std::string>{"full"});
}
