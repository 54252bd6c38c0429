// What status, ps and models print, of a server that answers what the test has written.
#include "cli/run_command.hpp"

#include "client/connection.hpp"
#include "server/cli/board_bench.hpp"
#include "support/catch.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using StateAction = StateOptions::Action;

// What a command prints that ends well.
std::string printed_by_state(const BoardBench& bench, StateAction action, bool json = false) {
  StateOptions options{.action = action, .remote = {.to = bench.link().url()}, .json = json};
  PrintedOutput output;
  const int status = run_state(options, bench.request());
  std::string text = output.text();
  CHECK(status == kExitOk);
  return text;
}

Json health_of_board(const Json& models, Json more = Json::object()) {
  more["models"] = models;
  more["status"] = "ready";
  more["version"] = "0.2.0";
  if (!more.contains("runtime")) more["runtime"] = {{"version", "1.3.0"}, {"path", "/usr/lib/librkllmrt.so"}};
  return more;
}

BoardBench board_with_health(const Json& health, const Json& models = Json::array()) {
  return BoardBench({{"GET /health", {health}}, {"GET /v1/models", {{{"data", models}}}}});
}

}  // namespace

TEST_CASE("status tells the server, its runtime, what is loaded, and who is connected") {
  const Json health = health_of_board(
      Json::array({{{"handle", "llm-1"}}}),
      {{"uptime_s", 7300},
       {"transports",
        {{"tcp", {{"port", 8081}, {"connections", 1}}}, {"http", {{"connections", 2}}}, {"udp", {{"port", 8082}}}}}});
  const BoardBench board = board_with_health(health);
  CHECK(printed_by_state(board, StateAction::kStatus) == "server      ready, version 0.2.0, up 2 h, " +
                                                             board.link().url() +
                                                             "\n"
                                                             "runtime     1.3.0, /usr/lib/librkllmrt.so\n"
                                                             "models      1 loaded; more: rkllm-mcp ps" +
                                                             board.where() +
                                                             "\n"
                                                             "tcp         1 connection\n"
                                                             "http        2 connections\n");
  CHECK(Json::parse(printed_by_state(board, StateAction::kStatus, true)) == health);
}

TEST_CASE("how long a server has been up is told in the unit that suits it") {
  for (const auto& [seconds, words] : std::map<int, std::string>{
           {0, "0 s"}, {119, "119 s"}, {120, "2 min"}, {7199, "119 min"}, {7200, "2 h"}, {90000, "25 h"}}) {
    const BoardBench board =
        board_with_health(health_of_board(Json::array({{{"handle", "llm-1"}}}), {{"uptime_s", seconds}}));
    CHECK_THAT(printed_by_state(board, StateAction::kStatus), has_text(", up " + words + ", "));
  }
}

TEST_CASE("status of a server without a runtime says why there is none, and how to find out more") {
  const Json runtime{{"version", nullptr}, {"reason", "no library"}, {"note", "the setting is empty"}};
  const BoardBench board =
      board_with_health(health_of_board(Json::array(), {{"runtime", runtime}}), Json::array({{{"id", "fast"}}}));
  const std::string printed = printed_by_state(board, StateAction::kStatus);
  CHECK_THAT(printed, has_text("runtime     none: no library\n            the setting is empty\n"));
  CHECK_THAT(printed, has_text("models      0 loaded. Load one: rkllm-mcp load NAME" + board.where() +
                               "; rkllm-mcp models" + board.where() + " names them\n"));
  CHECK_THAT(printed, has_text("To find out more: rkllm-mcp doctor\n"));
}

TEST_CASE("ps has a row for each handle, and a dash for what is not known") {
  const BoardBench board = board_with_health(health_of_board({{{"handle", "llm-1"},
                                                               {"name", "fast"},
                                                               {"running", true},
                                                               {"queued", 2},
                                                               {"tokens_per_second", 12.34},
                                                               {"time_to_first_token_ms", 250},
                                                               {"process", 4711}},
                                                              {{"handle", "llm-22"}, {"name", "größer"}}}));
  CHECK(printed_by_state(board, StateAction::kLoaded) ==
        "HANDLE  MODEL   STATE    WAITING  TOKENS/S  FIRST TOKEN MS  PROCESS\n"
        "llm-1   fast    running  2        12.3      250.0           4711\n"
        "llm-22  größer  idle     -        -         -               -\n");
  CHECK(Json::parse(printed_by_state(board, StateAction::kLoaded, true)).size() == 2);
}

TEST_CASE("where nothing is loaded the next step is told, as far as the server says what there is") {
  const BoardBench has_one = board_with_health(health_of_board(Json::array()), Json::array({{{"id", "fast"}}}));
  const std::string load = "No model is loaded. Load one: rkllm-mcp load NAME" + has_one.where();
  CHECK(printed_by_state(has_one, StateAction::kLoaded) ==
        load + "; rkllm-mcp models" + has_one.where() + " names them\n");
  CHECK(printed_by_state(has_one, StateAction::kLoaded, true) == "[]\n");

  const BoardBench has_none = board_with_health(health_of_board(Json::array()));
  CHECK_THAT(printed_by_state(has_none, StateAction::kLoaded),
             has_text("No model is loaded. Have the server fetch one: rkllm-mcp pull "));

  const BoardBench says_nothing({{"GET /health", {health_of_board(Json::array())}}});
  CHECK(printed_by_state(says_nothing, StateAction::kLoaded) ==
        "No model is loaded. Load one: rkllm-mcp load NAME" + says_nothing.where() + "\n");
}

TEST_CASE("models are shown with size, state and file, and a profile as that") {
  const Json models{
      {{"id", "fast"}, {"rkllm", {{"state", "loaded"}, {"path", "/models/fast.rkllm"}, {"bytes", 1'200'000'000}}}},
      {{"id", "poet"}, {"rkllm", {{"profile", true}, {"path", "fast"}}}},
      {{"id", "bare"}},
      5};
  const BoardBench board({{"GET /v1/models", {{{"data", models}}}}});
  CHECK(printed_by_state(board, StateAction::kModels) ==
        "MODEL  SIZE    LOADED  FILE\n"
        "fast   1.2 GB  yes     /models/fast.rkllm\n"
        "poet   -       no      a profile, of fast\n"
        "bare   -       no      \n");
  const Json printed = Json::parse(printed_by_state(board, StateAction::kModels, true));
  REQUIRE(printed.size() == 3);
  CHECK(printed[0] ==
        Json{{"model", "fast"}, {"path", "/models/fast.rkllm"}, {"bytes", 1'200'000'000}, {"loaded", true}});
  CHECK(printed[2] == Json{{"model", "bare"}, {"path", nullptr}, {"bytes", nullptr}, {"loaded", false}});
}

TEST_CASE("a server without models is told what to do, and programs get an empty list") {
  const BoardBench board = board_with_health(health_of_board(Json::array()));
  CHECK_THAT(printed_by_state(board, StateAction::kModels), has_text("No models. Have the server fetch one: "));
  CHECK(printed_by_state(board, StateAction::kModels, true) == "[]\n");
}

TEST_CASE("where no server runs the models of this machine's settings are shown, but not in another's place") {
  const TemporaryDirectory folder;
  write_file(folder / "mine.rkllm", "weights");
  SettingsRequest request;
  request.path = folder / "settings.json";
  // Nobody listens at port 1.
  write_file(
      *request.path,
      Json{{"http", {{"port", 1}}}, {"runtime", {{"model_dirs", {folder.path()}}, {"library", "/nowhere"}}}}.dump());
  PrintedOutput output;
  PrintedOutput errors(STDERR_FILENO);
  const int status = run_state({.action = StateAction::kModels, .json = true}, request);
  const std::string said = errors.text();
  const Json printed = Json::parse(output.text());
  CHECK(status == kExitOk);
  REQUIRE(printed.size() == 1);
  CHECK(printed[0]["model"] == "mine");
  CHECK(printed[0]["path"] == folder / "mine.rkllm");
  CHECK(printed[0]["bytes"] == 7);
  CHECK_THAT(said, has_text("no server runs at http://127.0.0.1:1: these are the models that this machine's"));

  CHECK_THROWS_AS(run_state({.action = StateAction::kModels, .remote = {.to = "http://127.0.0.1:1"}}, request),
                  client::Unreachable);
  CHECK_THROWS_AS(run_state({.action = StateAction::kStatus}, request), client::Unreachable);
}

}  // namespace rkllm_mcp::test
