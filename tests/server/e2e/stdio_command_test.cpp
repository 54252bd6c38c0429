// `rkllm-mcp stdio`, as a host or a shell pipe starts it: answers, ends with its input, and says nothing else.
#include "support/catch.hpp"
#include "support/live_server.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"

#include <signal.h>

#include <filesystem>
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

// By the ids of their requests.
std::map<int, Json> results_until_end(Process& process) {
  std::map<int, Json> results;
  std::istringstream lines(process.read_rest());
  for (std::string text; std::getline(lines, text);) {
    const Json message = Json::parse(text);
    results[message["id"].get<int>()] = message.value("result", Json());
  }
  return results;
}

// A model whose answers take 50 ms for each token, in a folder of models of its own; gives the folder.
std::string folder_of_slow_model(const TemporaryDirectory& directory) {
  const std::string folder = directory / "models";
  std::filesystem::create_directory(folder);
  write_file(
      folder + "/slow.json",
      Json{{"rkllm_simulated_model", 1}, {"name", "SIMULATED slow"}, {"npu_cores", 1}, {"decode_tokens_per_s", 20}}
          .dump());
  return folder;
}

}  // namespace

TEST_CASE("what is asked just before the input ends is answered, and the command ends with status 0") {
  TemporaryDirectory directory;
  Process process(stdio_command(directory));
  process.write(init_line(1) + line(2, "ping") + line(3, "CPU4"));
  process.close_input();
  std::map<int, Json> answers = results_until_end(process);
  CHECK(process.wait() == 0);
  CHECK(answers.size() == 3);
  CHECK(answers[1] == Json{{"status", 0}, {"handle", "llm-1"}, {"simulated", true}});
  CHECK(answers[2] == Json::object());
  CHECK(answers[3]["value"] == 16);
}

TEST_CASE("a model that a pipe asks for is loaded, and its long answer given, after the end of the input") {
  TemporaryDirectory directory;
  Process::Options options = stdio_command(directory);
  options.args.insert(options.args.end(), {"--set", "runtime.model_dirs=" + folder_of_slow_model(directory)});
  Process process(options);
  // A second and a half: three times what an MCP host gives a server whose input it has closed.
  process.write(line(1, "rkllm_run", {{"handle", "slow"}, {"rkllm_input", {{"prompt_input", "@n=30"}}}}));
  process.close_input();
  const std::map<int, Json> answers = results_until_end(process);
  CHECK(process.wait() == 0);
  REQUIRE(answers.size() == 1);
  CHECK(answers.at(1)["status"] == 0);
  CHECK_FALSE(answers.at(1).contains("aborted"));
}

TEST_CASE("runs that wait for one another when the input ends are all made") {
  TemporaryDirectory directory;
  Process::Options options = stdio_command(directory);
  const std::string folder = folder_of_slow_model(directory);
  Process process(options);
  process.write(line(1, "rkllm_init", {{"param", {{"model_path", folder + "/slow.json"}}}}));
  REQUIRE(process.read_line().has_value());
  for (const int id : {2, 3, 4}) process.write(line(id, "rkllm_run", {{"rkllm_input", {{"prompt_input", "@n=8"}}}}));
  process.close_input();
  const std::map<int, Json> answers = results_until_end(process);
  CHECK(process.wait() == 0);
  REQUIRE(answers.size() == 3);
  for (const auto& [id, result] : answers) CHECK(result["status"] == 0);
}

TEST_CASE("a stream without end ends with whoever reads it, though the input has ended before") {
  TemporaryDirectory directory;
  Process process(stdio_command(directory));
  process.write(init_line(1, "rk3588-1.5b"));
  REQUIRE(process.read_line().has_value());
  process.write(line(2, "rkllm_run_async", {{"rkllm_input", {{"prompt_input", "@n=100000000"}}}}));
  REQUIRE(process.read_line().has_value());
  SECTION("because the reader of standard output has gone, too") {
    process.close_input();
    process.close_output();
  }
  SECTION("because the reader of standard output goes later") {
    process.close_input();
    REQUIRE(process.read_line().has_value());
    process.close_output();
  }
  SECTION("because of SIGTERM") {
    process.close_input();
    REQUIRE(process.read_line().has_value());
    process.signal(SIGTERM);
    process.read_rest();
  }
  CHECK(process.wait() == 0);
}

TEST_CASE("a run that an MCP host has asked for does not outlive its input") {
  TemporaryDirectory directory;
  Process process(stdio_command(directory));
  process.write(line(1, "initialize",
                     {{"protocolVersion", "2025-06-18"},
                      {"capabilities", Json::object()},
                      {"clientInfo", {{"name", "host"}, {"version", "1"}}}}));
  REQUIRE(process.read_line().has_value());
  process.write(init_line(2, "rk3588-1.5b"));
  REQUIRE(process.read_line().has_value());
  process.write(line(3, "tools/call",
                     {{"name", "rkllm_run"},
                      {"arguments", {{"rkllm_input", {{"prompt_input", "@n=100000000"}}}}},
                      {"_meta", {{"progressToken", "p"}}}}));
  REQUIRE(Json::parse(process.read_line().value())["method"] == "notifications/progress");
  process.close_input();
  process.read_rest();
  CHECK(process.wait() == 0);
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
  process.write(
      init_line(1, "rk3588-1.5b"));  // no faster than a busy machine reads: what is written at the end is to arrive
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
