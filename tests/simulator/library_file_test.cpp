// What can be told about the library from its file: what it exports, its version, and that it is a simulator.
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
