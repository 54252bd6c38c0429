#include "models/load_progress.hpp"

#include "support/catch.hpp"
#include "support/process.hpp"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace rkllm_mcp::test {

using std::chrono::seconds;

TEST_CASE("of a load is told what its worker has read, and what is left by an earlier load of the same file alone") {
  const TemporaryDirectory directory;
  const std::filesystem::path proc = directory / "proc";
  const std::string path = directory / "big.rkllm";
  write_file(path, std::string(1000, 'x'));
  std::filesystem::create_directories(proc / "7/fd");
  std::filesystem::create_directories(proc / "7/fdinfo");
  std::filesystem::create_symlink(path, proc / "7/fd/3");
  write_file(proc / "7/fdinfo/3", "pos:\t400\nflags:\t0100000\n");

  LoadsUnderWay loads(proc);
  CHECK(loads.status({}) == Json::array());
  std::vector<QueuedBackend::Load> now{{.init = 1, .model = "", .path = path, .process = 7, .since = seconds(2)}};
  CHECK(
      loads.status(now) ==
      Json::array({Json{{"name", "big"}, {"path", path}, {"bytes", 400}, {"total", 1000}, {"seconds_left", nullptr}}}));
  now[0].before = seconds(5);
  write_file(proc / "7/fdinfo/3", "pos:\t900\n");
  now.push_back({.init = 2, .model = "chosen", .path = "/nowhere/other.rkllm", .process = {}});
  const Json told = loads.status(now);
  CHECK(told[0]["bytes"] == 900);
  CHECK(told[0]["seconds_left"] == 3.0);
  CHECK(told[1] == Json{{"name", "chosen"},
                        {"path", "/nowhere/other.rkllm"},
                        {"bytes", nullptr},
                        {"total", nullptr},
                        {"seconds_left", nullptr}});
  now[0].since = seconds(60);
  CHECK(loads.status(now)[0]["seconds_left"] == 0.0);
}

}  // namespace rkllm_mcp::test
