// The NULL and lifetime matrix of the runtime's contract: what returns -1, and what the vendor's library does not
// survive. The latter happens in a child process.
#include "simulated.hpp"
#include "support/paths.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <stdexcept>

extern char** environ;

using namespace simulated;

namespace {

struct Death {
  int signal = 0;     // 0: the child exited
  int exit_code = 0;  // if it did
  std::string errors;
};

// Starts a child, in a process group of its own, that breaks a rule.
pid_t start_breaking(const std::string& rule, const std::string& model_path, const std::string& errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, errors.c_str(), O_CREAT | O_WRONLY, 0600);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::string program = rkllm_mcp::test::built_program("simulator_contract_breaker");
  std::string name = rule;
  std::string path = model_path;
  char* arguments[] = {program.data(), name.data(), path.data(), nullptr};
  pid_t child = 0;
  REQUIRE(posix_spawn(&child, program.c_str(), &actions, &attributes, arguments, environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return child;
}

Death break_rule(const std::string& rule, const std::string& model_path = model("fast")) {
  const Directory directory;
  const std::string errors = directory.file("stderr");
  const pid_t child = start_breaking(rule, model_path, errors);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return {WIFSIGNALED(status) ? WTERMSIG(status) : 0, WIFEXITED(status) ? WEXITSTATUS(status) : 0, read(errors)};
}

// The processor time that each thread of a process has used so far; empty when it has ended.
std::string processor_times(pid_t process) {
  std::string times;
  std::error_code ended;
  const std::filesystem::path threads("/proc/" + std::to_string(process) + "/task");
  for (const auto& thread : std::filesystem::directory_iterator(threads, ended))
    times += read(thread.path() / "schedstat");
  return times;
}

// Waits for the child's end, but no longer than that. Its status is still to be asked for.
bool ends_within(std::chrono::milliseconds patience, pid_t child) {
  pollfd end{static_cast<int>(syscall(SYS_pidfd_open, child, 0)), POLLIN, 0};
  REQUIRE(end.fd >= 0);
  const int count = poll(&end, 1, static_cast<int>(patience.count()));
  close(end.fd);
  return count > 0;
}

// Whether the child has come to the rule, and then neither ends nor does anything any more.
bool hangs(const std::string& rule, const std::string& model_path = model("fast")) {
  constexpr std::chrono::milliseconds kBetweenLooks{100};
  const Directory directory;
  const std::string errors = directory.file("stderr");
  const pid_t child = start_breaking(rule, model_path, errors);
  bool is_there = true;
  std::string before;
  for (std::string now; is_there && (now.empty() || now != before || !contains(read(errors), "breaking: "));) {
    before = now;
    is_there = !ends_within(kBetweenLooks, child);
    now = processor_times(child);
  }
  kill(-child, SIGKILL);  // and the child that it may have forked
  waitpid(child, nullptr, 0);
  return is_there;
}

// What the vendor's library dies of when a rule is broken; the simulator does by default say so, and abort.
void check_death(const std::string& rule, int signal) {
  INFO(rule);
  const Death reported = break_rule(rule);
  CHECK(reported.signal == SIGABRT);
  CHECK(contains(reported.errors, "E rkllm: broken contract: rkllm_"));
  const Environment strict("RKLLM_SIM_STRICT", "crash");
  CHECK(break_rule(rule).signal == signal);
}

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

TEST_CASE("rkllm_init without param, model_path or handle: SIGSEGV") {
  check_death("init without param", SIGSEGV);
  check_death("init without model_path", SIGSEGV);
  check_death("init without handle", SIGSEGV);
}

TEST_CASE("rkllm_run without input or infer params: SIGSEGV") {
  check_death("run without input", SIGSEGV);
  check_death("run without infer params", SIGSEGV);
}

TEST_CASE("a token id beyond the vocabulary: SIGSEGV") {
  check_death("run with a token above the vocabulary", SIGSEGV);
}

TEST_CASE("rkllm_load_lora without struct or path: SIGSEGV, a LoRA name that is NULL: abort") {
  check_death("load_lora without struct", SIGSEGV);
  check_death("load_lora without path", SIGSEGV);
  check_death("load_lora without name", SIGABRT);
  check_death("run with a LoRA name that is NULL", SIGABRT);
}

TEST_CASE("a run with a LoRA adapter that could not be applied: abort") {
  check_death("run with a LoRA adapter that could not be applied", SIGABRT);
}

TEST_CASE("rkllm_load_prompt_cache without path: abort") { check_death("load_prompt_cache without path", SIGABRT); }

TEST_CASE("rkllm_get_kv_cache_size without array: SIGSEGV") { check_death("get_kv_cache_size without array", SIGSEGV); }

TEST_CASE("rkllm_set_chat_template with a NULL string: SIGSEGV") {
  check_death("set_chat_template without system", SIGSEGV);
  check_death("set_chat_template without prefix", SIGSEGV);
  check_death("set_chat_template without postfix", SIGSEGV);
}

TEST_CASE("rkllm_set_function_tools with a NULL string: abort") {
  check_death("set_function_tools without system", SIGABRT);
  check_death("set_function_tools without tools", SIGABRT);
  check_death("set_function_tools without tag", SIGABRT);
}

TEST_CASE("rkllm_destroy during an asynchronous run, and twice: SIGSEGV") {
  check_death("destroy during an async run", SIGSEGV);
  check_death("destroy twice", SIGSEGV);
}

TEST_CASE("a handle that was destroyed, or is in use by another run, is a broken contract") {
  check_death("use after destroy", SIGSEGV);
  check_death("run during an async run", SIGSEGV);
}

TEST_CASE("a tokenizer_callback that returns another count than it asked for aborts the process") {
  const Directory directory;
  const std::string path = directory.model({{"tokenizer", false}});
  const std::string rule = "run with a tokenizer_callback that returns another count than it asked for";
  CHECK(break_rule(rule, path).signal == SIGABRT);
  const Environment strict("RKLLM_SIM_STRICT", "crash");
  CHECK(break_rule(rule, path).signal == SIGABRT);
}

TEST_CASE("a function where init takes a RKLLMCallback lets init succeed and kills the run") {
  const std::string rule = "run with a function where init takes a RKLLMCallback";
  check_death(rule, SIGSEGV);
  CHECK(contains(break_rule(rule).errors, "rkllm_run: rkllm_init was given a function"));
}

TEST_CASE("NULL strings leave the library as std::logic_error, which C++ programs can catch") {
  Llm llm;
  const Environment strict("RKLLM_SIM_STRICT", "crash");
  RKLLMLoraAdapter adapter{"path", nullptr, 1.0F};
  CHECK_THROWS_AS(rkllm_load_lora(llm.handle, &adapter), std::logic_error);
  CHECK_THROWS_AS(rkllm_load_prompt_cache(llm.handle, nullptr), std::logic_error);
  CHECK_THROWS_AS(rkllm_set_function_tools(llm.handle, nullptr, "[]", "tag"), std::logic_error);
  RKLLMLoraParam lora{};
  RKLLMInferParam params{};
  params.lora_params = &lora;
  CHECK_THROWS_AS(llm.run("Hello", params), std::logic_error);
  CHECK(llm.run("Hello") == 0);
}

TEST_CASE("a second model beyond the 4 GB of its IOMMU domain crashes init, in another domain it fits") {
  const Directory directory;
  const std::string path = directory.model({{"npu_memory_mb", 2500}});
  const Death death = break_rule("init of a second model that the NPU's memory has no room for", path);
  CHECK(death.signal == SIGSEGV);
  CHECK(contains(death.errors, "init failed"));
  for (int i = 0; i < 3; ++i) {  // what is destroyed makes room again
    const Llm first(path);
    const Llm second(path, [](RKLLMParam& param) { param.extend_param.base_domain_id = 1; });
  }
}

TEST_CASE("a run in a child of fork() after a run hangs") {
  const std::string rule = "run in a child of fork() after a run";
  const Death death = break_rule(rule);
  CHECK(death.signal == SIGABRT);
  CHECK(contains(death.errors, "broken contract: rkllm_run: in a child of fork()"));
  const Environment strict("RKLLM_SIM_STRICT", "crash");
  CHECK(hangs(rule));
}

TEST_CASE("RKLLM_SIM_STRICT=hang blocks where a contract is broken") {
  const Environment strict("RKLLM_SIM_STRICT", "hang");
  CHECK(hangs("run without input"));
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

TEST_CASE("a model file can ask for a hang, in init and at a token") {
  const Directory directory;
  CHECK(hangs("run", directory.model({{"faults", {{{"when", 3}, {"what", "hang"}}}}})));
  CHECK(hangs("init only", directory.model({{"faults", {{{"when", "init"}, {"what", "hang"}}}}})));
}
