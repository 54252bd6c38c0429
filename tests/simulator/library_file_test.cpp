// What can be told about the library from its file: what it exports, its version, and that it is a simulator. Also what
// it writes where.
#include "simulated.hpp"

#include <array>
#include <cstdio>
#include <memory>
#include <set>
#include <sstream>

using namespace simulated;

namespace {

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  REQUIRE(pipe);
  std::string output;
  std::array<char, 4096> buffer{};
  while (const std::size_t size = fread(buffer.data(), 1, buffer.size(), pipe.get()))
    output.append(buffer.data(), size);
  return output;
}

}  // namespace

TEST_CASE("the library exports the 15 functions of the header and nothing else") {
  std::set<std::string> names;
  std::istringstream lines(output_of("nm -D --defined-only '" SIMULATOR_LIBRARY "'"));
  for (std::string line; std::getline(lines, line);) names.insert(line.substr(line.rfind(' ') + 1));
  CHECK(names == std::set<std::string>{"rkllm_abort", "rkllm_clear_kv_cache", "rkllm_createDefaultParam",
                                       "rkllm_destroy", "rkllm_get_kv_cache_size", "rkllm_init", "rkllm_is_running",
                                       "rkllm_load_lora", "rkllm_load_prompt_cache", "rkllm_release_prompt_cache",
                                       "rkllm_run", "rkllm_run_async", "rkllm_set_chat_template",
                                       "rkllm_set_cross_attn_params", "rkllm_set_function_tools"});
}

TEST_CASE("the library's file says its version, and that it is simulated") {
  const std::string bytes = read(SIMULATOR_LIBRARY);
  const auto version = bytes.find("RKLLM SDK (version: ");
  REQUIRE(version != std::string::npos);
  CHECK(bytes.substr(version, 28) == "RKLLM SDK (version: 1.3.0 | ");
  CHECK(bytes.substr(version, 80).find("SIMULATED") != std::string::npos);
  CHECK(bytes.substr(version, 80).find("rkllm simulator") != std::string::npos);
}

TEST_CASE("information goes to stdout even at level 0, errors go to stderr") {
  const std::string breaker = "'" CONTRACT_BREAKER "' ";
  const std::string good = output_of(breaker + "'init only' '" + model("fast") + "' 2>/dev/null");
  CHECK(good.find("I rkllm: RKLLM SDK (version: 1.3.0 | SIMULATED") == 0);
  CHECK(output_of(breaker + "'init only' '" + model("fast") + "' 2>&1 >/dev/null").empty());
  const std::string bad = output_of(breaker + "'init only' /no/such/file 2>&1 >/dev/null");
  CHECK(bad.find("E rkllm: ") == 0);
}

TEST_CASE("level 1 adds the figures of each run, level 2 the prompts") {
  const std::string run = "'" CONTRACT_BREAKER "' run '" + model("fast") + "' 2>/dev/null";
  const std::string base = output_of(run);
  CHECK(base.find("prefill: ") == std::string::npos);
  CHECK(base.find("Hello") == std::string::npos);
  const std::string perf = output_of("RKLLM_LOG_LEVEL=1 " + run);
  CHECK(perf.find("prefill: ") != std::string::npos);
  CHECK(perf.find("Hello") == std::string::npos);
  CHECK(output_of("RKLLM_LOG_LEVEL=2 " + run).find("Hello") != std::string::npos);
}
