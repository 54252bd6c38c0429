// The line that tells how far a load is, on a terminal that the test reads. It asks the first time after 300 ms.
#include "cli/people/load_progress_line.hpp"

#include "server/cli/board_bench.hpp"
#include "server/cli/stand_in_terminal.hpp"
#include "support/catch.hpp"

#include <unistd.h>

#include <string>
#include <vector>

namespace rkllm_mcp::test {
namespace {

Json health_while_loading(const Json& loads) { return {{"models", Json::array()}, {"loading", loads}}; }

BoardBench board_that_says(std::vector<Json> healths) { return BoardBench({{"GET /health", std::move(healths)}}); }

}  // namespace

TEST_CASE("of several loads the one is shown that is waited for, with all that is known of it, until it is over") {
  const Json other{{"name", "other"}, {"bytes", 1e6}, {"total", 2e6}};
  const Json load{{"name", "fast"}, {"bytes", 50e6}, {"total", 100e6}, {"seconds_left", 40.9}};
  const BoardBench board =
      board_that_says({health_while_loading({other, load}), health_while_loading(Json::array({other}))});
  StandInTerminal terminal(STDERR_FILENO);
  LoadProgressLine line(board.link(), "fast:latest");
  REQUIRE(terminal.wait_for("\rloading  [###############...............] 50%  50.0 MB of 100.0 MB  40 s left\x1b[K"));
  CHECK(terminal.wait_for("\r\x1b[K"));
  line.end();
  line.end();
  CHECK(terminal.shown().find("2.0 MB") == std::string::npos);
}

TEST_CASE("what is not known of a load is left out, and its line goes when nobody waits any more") {
  const Json load{
      {"name", "a"}, {"path", "/models/a.rkllm"}, {"bytes", nullptr}, {"total", 3e9}, {"seconds_left", 0.5}};
  const BoardBench board = board_that_says({health_while_loading(Json::array({5, nullptr, load}))});
  StandInTerminal terminal(STDERR_FILENO);
  LoadProgressLine line(board.link(), "/models/a.rkllm");
  REQUIRE(terminal.wait_for("\rloading  3.0 GB\x1b[K"));
  line.end();
  CHECK(terminal.wait_for("\r\x1b[K"));
}

}  // namespace rkllm_mcp::test
