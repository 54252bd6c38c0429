// `rkllm-mcp stdio`, as a host or a shell pipe starts it: answers, ends with its input, and says nothing else.
#include "support/catch.hpp"
#include "support/live_server.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"

#include <signal.h>

#include <map>
#include <sstream>
#include <string>

namespace rkllm_mcp::test {
namespace {

Process::Options stdio_command(const TemporaryDirectory& directory) {
  Process::Options options;
  options.args = {kProgram, "stdio", "--simulator", "--settings", directory / "settings.json"};
  options.directory = directory.path();
  // The runtime prints prompts and figures to its standard output then.
  options.env = {{"RKLLM_LOG_LEVEL", "2"}};
  return options;
}

std::string line(const Json& id, const char* method, const Json& params = Json::object()) {
  return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump() + "\n";
}

std::string init_line(int id, const char* model = "fast") {
  return line(id, "rkllm_init", {{"param", {{"model_path", shipped_model(model)}}}});
}

}  // namespace

TEST_CASE("what is asked just before the input ends is answered, and the command ends with status 0") {
  TemporaryDirectory directory;
  Process process(stdio_command(directory));
  process.write(init_line(1));
  // Loading takes as long as it takes, and what is in progress half a second after the end of input is ended.
  CHECK(Json::parse(process.read_line().value())["result"] ==
        Json{{"status", 0}, {"handle", "llm-1"}, {"simulated", true}});
  process.write(line(2, "ping") + line(3, "CPU4"));
  process.close_input();
  std::map<int, Json> answers;
  std::istringstream lines(process.read_rest());
  for (std::string text; std::getline(lines, text);) {
    const Json message = Json::parse(text);
    answers[message["id"].get<int>()] = message.value("result", Json());
  }
  CHECK(process.wait() == 0);
  CHECK(answers.size() == 2);
  CHECK(answers[2] == Json::object());
  CHECK(answers[3]["value"] == 16);
}

TEST_CASE("standard output carries the protocol only, whatever the runtime prints") {
  TemporaryDirectory directory;
  Process process(stdio_command(directory));
  process.write(init_line(1));
  REQUIRE(Json::parse(process.read_line().value())["id"] == 1);
  process.write(line(2, "rkllm_run", {{"rkllm_input", {{"prompt_input", "@n=30 SECRET PROMPT"}}}}));
  const Json run = Json::parse(process.read_line().value());
  CHECK(run["result"]["status"] == 0);
  process.write(line(3, "rkllm_destroy"));
  CHECK(Json::parse(process.read_line().value())["result"]["status"] == 0);
  process.close_input();
  CHECK(process.read_rest() == "");
  CHECK(process.wait() == 0);
  // The runtime did print; it went where logs go.
  CHECK(process.error_text().find("SECRET PROMPT") != std::string::npos);
}

TEST_CASE("a stream over a pipe that is closed for writing comes to its end") {
  TemporaryDirectory directory;
  Process process(stdio_command(directory));
  process.write(init_line(1));
  REQUIRE(process.read_line().has_value());
  process.write(line(2, "rkllm_run_async", {{"rkllm_input", {{"prompt_input", "@n=2000"}}}}));
  process.close_input();
  std::string last;
  std::istringstream lines(process.read_rest());
  for (std::string text; std::getline(lines, text);) last = text;
  CHECK(process.wait() == 0);
  CHECK(Json::parse(last)["result"]["chunk"]["end"] == true);
  CHECK_FALSE(Json::parse(last)["result"].contains("aborted"));
}

TEST_CASE("a host that closes its end of standard output ends the command") {
  TemporaryDirectory directory;
  Process process(stdio_command(directory));
  process.write(init_line(1));
  REQUIRE(process.read_line().has_value());
  process.write(line(2, "rkllm_run_async", {{"rkllm_input", {{"prompt_input", "@n=100000000"}}}}));
  REQUIRE(process.read_line().has_value());
  process.close_output();
  CHECK(process.wait() == 0);
}

TEST_CASE("SIGTERM ends the command in the middle of a run, with status 0") {
  TemporaryDirectory directory;
  Process process(stdio_command(directory));
  process.write(init_line(1, "rk3588-1.5b"));  // no faster than a busy machine reads: what is written at the end is to arrive
  REQUIRE(process.read_line().has_value());
  process.write(line(2, "rkllm_run_async", {{"rkllm_input", {{"prompt_input", "@n=100000000"}}}}));
  REQUIRE(process.read_line().has_value());
  process.signal(SIGTERM);
  std::string last;
  while (auto text = process.read_line()) last = *text;
  CHECK(Json::parse(last)["result"]["aborted"] == true);
  CHECK(process.wait() == 0);
}

}  // namespace rkllm_mcp::test
