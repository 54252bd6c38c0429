// The NULL and lifetime matrix of the runtime's contract: what returns -1, and what the vendor's library does not
// survive. The latter happens in a child process.
#include "simulated.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <csignal>

extern char** environ;

using namespace simulated;

namespace {

struct Death {
  int signal = 0;     // 0: the child exited
  int exit_code = 0;  // if it did
  std::string errors;
};

// Lets a child break a rule.
Death break_rule(const std::string& rule, const std::string& model_path = model("fast")) {
  const Directory directory;
  const std::string errors = directory.file("stderr");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, errors.c_str(), O_CREAT | O_WRONLY, 0600);
  std::string program = CONTRACT_BREAKER;
  std::string name = rule;
  std::string path = model_path;
  char* arguments[] = {program.data(), name.data(), path.data(), nullptr};
  pid_t child = 0;
  REQUIRE(posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return {WIFSIGNALED(status) ? WTERMSIG(status) : 0, WIFEXITED(status) ? WEXITSTATUS(status) : 0, read(errors)};
}

const char* const kSegmentationFaults[] = {
    "init without param",
    "init without model_path",
    "init without handle",
    "run without input",
    "run without infer params",
    "run with a token above the vocabulary",
    "load_lora without struct",
    "load_lora without path",
    "get_kv_cache_size without array",
    "set_chat_template without system",
    "set_chat_template without prefix",
    "set_chat_template without postfix",
    "destroy twice",
    "use after destroy",
    "destroy during an async run",
    "run during an async run",
};

const char* const kAborts[] = {
    "run with a LoRA name that is NULL",
    "run with a LoRA adapter that could not be applied",
    "load_lora without name",
    "load_prompt_cache without path",
    "set_function_tools without tools",
};

}  // namespace

TEST_CASE("a NULL handle makes every function return -1") {
  RKLLMInput input = prompt("Hello");
  RKLLMInferParam params{};
  RKLLMLoraAdapter adapter{};
  RKLLMCrossAttnParam attention{};
  int sizes[] = {-7};
  CHECK(rkllm_destroy(nullptr) == -1);
  CHECK(rkllm_run(nullptr, &input, &params, nullptr) == -1);
  CHECK(rkllm_run_async(nullptr, &input, &params, nullptr) == -1);
  CHECK(rkllm_abort(nullptr) == -1);
  CHECK(rkllm_is_running(nullptr) == -1);
  CHECK(rkllm_clear_kv_cache(nullptr, 0, nullptr, nullptr) == -1);
  CHECK(rkllm_get_kv_cache_size(nullptr, sizes) == -1);
  CHECK(sizes[0] == -7);
  CHECK(rkllm_load_lora(nullptr, &adapter) == -1);
  CHECK(rkllm_load_prompt_cache(nullptr, "file") == -1);
  CHECK(rkllm_release_prompt_cache(nullptr) == -1);
  CHECK(rkllm_set_chat_template(nullptr, "", "", "") == -1);
  CHECK(rkllm_set_function_tools(nullptr, "", "[]", "tag") == -1);
  CHECK(rkllm_set_cross_attn_params(nullptr, &attention) == -1);
}

TEST_CASE("run_async without input or infer params returns -1") {
  Llm llm;
  RKLLMInput input = prompt("Hello");
  RKLLMInferParam params{};
  CHECK(rkllm_run_async(llm.handle, nullptr, &params, nullptr) == -1);
  CHECK(rkllm_run_async(llm.handle, &input, nullptr, nullptr) == -1);
}

TEST_CASE("a broken contract aborts with a message that names the function") {
  std::vector<std::string> rules(std::begin(kSegmentationFaults), std::end(kSegmentationFaults));
  rules.insert(rules.end(), std::begin(kAborts), std::end(kAborts));
  for (const std::string& rule : rules) {
    INFO(rule);
    const Death death = break_rule(rule);
    CHECK(death.signal == SIGABRT);
    CHECK(death.errors.find("broken contract: ") != std::string::npos);
  }
}

TEST_CASE("RKLLM_SIM_STRICT=crash dies as the vendor's library does") {
  const Environment strict("RKLLM_SIM_STRICT", "crash");
  for (const std::string rule : kSegmentationFaults) {
    INFO(rule);
    CHECK(break_rule(rule).signal == SIGSEGV);
  }
  for (const std::string rule : kAborts) {
    INFO(rule);
    CHECK(break_rule(rule).signal == SIGABRT);
  }
}

TEST_CASE("RKLLM_SIM_STRICT=oom says that init failed, and crashes in it") {
  const Environment strict("RKLLM_SIM_STRICT", "oom");
  const Death death = break_rule("init only");
  CHECK(death.signal == SIGSEGV);
  CHECK(death.errors.find("init failed") != std::string::npos);
}

TEST_CASE("a model file can ask for a crash in init and at a token") {
  const Directory directory;
  CHECK(break_rule("init only", directory.model({{"faults", {{{"when", "init"}, {"what", "crash"}}}}})).signal ==
        SIGSEGV);
  CHECK(break_rule("init only", directory.model({{"faults", {{{"when", "init"}, {"what", "oom"}}}}})).signal ==
        SIGSEGV);
  CHECK(break_rule("run", directory.model({{"faults", {{{"when", 5}, {"what", "crash"}}}}})).signal == SIGSEGV);
  CHECK(break_rule("run").exit_code == 0);
}

TEST_CASE("a model file can ask for a hang at a token, which an abort does not end") {
  const Directory directory;
  const std::string path = directory.model({{"faults", {{{"when", 3}, {"what", "hang"}}}}});
  std::string program = CONTRACT_BREAKER;
  std::string rule = "run";
  std::string model_path = path;
  char* arguments[] = {program.data(), rule.data(), model_path.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  REQUIRE(posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  // There is no event for "nothing more happens": give it time, and see that it is still there.
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  int status = 0;
  CHECK(waitpid(child, &status, WNOHANG) == 0);
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
}
