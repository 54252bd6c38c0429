#include "pull/hub.hpp"

#include "support/catch.hpp"
#include "support/process.hpp"

#include <filesystem>
#include <string>
#include <string_view>

using namespace rkllm_mcp;

namespace {

// The chip of a board whose kernel says that, as the entries of a device tree are: each ends with NUL.
std::string chip_by(std::string_view compatible) {
  const test::TemporaryDirectory root;
  std::filesystem::create_directories(root / "proc/device-tree");
  test::write_file(root / "proc/device-tree/compatible", std::string(compatible));
  return chip_of_board(root.path());
}

}  // namespace

TEST_CASE("the chip is what the kernel says last of its maker's") {
  CHECK(chip_by({"radxa,rock-5b\0rockchip,rk3588\0", 30}) == "rk3588");
  CHECK(chip_by({"rockchip,rk3576-evb1-v10\0rockchip,rk3576\0", 41}) == "rk3576");
  CHECK(chip_by({"rockchip,rk3562\0", 16}) == "rk3562");
  CHECK(chip_by("rockchip,rv1126b") == "rv1126b");
  CHECK(chip_by({"vendor,board\0rockchip,rk3588\0other,thing\0", 41}) == "rk3588");
}

TEST_CASE("models for RK3588 run on the RK3588S, which is the same to them") {
  CHECK(chip_by({"orangepi,5\0rockchip,rk3588s\0", 28}) == "rk3588");
}

TEST_CASE("a machine that is no such board has no such chip") {
  CHECK(chip_by("").empty());
  CHECK(chip_by({"\0\0\0", 3}).empty());
  CHECK(chip_by({"raspberrypi,5-model-b\0brcm,bcm2712\0", 35}).empty());
  CHECK(chip_by({"rockchip,\0", 10}).empty());
  const test::TemporaryDirectory nothing;
  CHECK(chip_of_board(nothing.path()).empty());
}

TEST_CASE("of this machine it is known how much memory it has") {
  const BoardFacts facts = facts_of_this_board();
  REQUIRE(facts.memory);
  CHECK(*facts.memory > 16'000'000);
  CHECK(facts.chip == chip_of_board("/"));
}
