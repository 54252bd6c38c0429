// The whole life of a worker process, seen from outside: the real program, with the simulator as its library.
#include "worker/worker_main.hpp"

#include "jsonrpc/envelope.hpp"
#include "library/loaded_library.hpp"
#include "server/worker/worker_commands.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/loop_thread.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"
#include "worker/worker_engine.hpp"
#include "worker/worker_process.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/method.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <csignal>
#include <future>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

constexpr const char* kSimulatorVersion = "1.3.0";

ChildProcess::Command real_worker(const std::string& library = kSimulator,
                                  const std::string& version = kSimulatorVersion) {
  return {kProgram, to_arguments({library, version, version, {}})};
}

// What a worker that cannot work has said, and its exit code.
std::pair<std::string, int> end_of_useless(const ChildProcess::Command& command) {
  Gathered printed;
  const WorkerProcess process(
      command, [&printed](std::string_view line) { printed.add(line); }, kWorkerPatience);
  const auto end = process.wait_for_end(kWorkerPatience);
  REQUIRE(end);
  CHECK(end->signal == 0);
  return {printed.first(), end->exit_code};
}

// One that has been found to work.
struct WorkingWorker {
  WorkingWorker() {
    engine.try_out();
    process = engine.worker_for(WorkerEngine::For::kCalls);
  }

  std::string file_of(const std::string& name) const {
    return read_file("/proc/" + std::to_string(process->id()) + "/" + name);
  }

  LoopThread loop;
  WorkerEngine engine{{.loop = loop.loop(), .command = real_worker(), .hang = kWorkerPatience}};
  std::shared_ptr<WorkerProcess> process;
};

// The words of the line that begins with `beginning`.
std::vector<std::string> words_of_line(const std::string& text, const std::string& beginning) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(beginning)) continue;
    std::istringstream rest(line.substr(beginning.size()));
    std::vector<std::string> words;
    for (std::string word; rest >> word;) words.push_back(word);
    return words;
  }
  return {};
}

// Has no more than so many files open, for as long as it lives.
class FewFiles {
 public:
  explicit FewFiles(rlim_t most) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{most, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;
  ~FewFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("a worker without a library says why, and by its exit code that it cannot work") {
  const auto [said, code] = end_of_useless(real_worker("/nowhere/librkllmrt.so"));
  CHECK(said.find("E worker: ") == 0);
  CHECK(said.find("/nowhere/librkllmrt.so") != std::string::npos);
  CHECK(code == 3);
}

TEST_CASE("a worker does not load a library of another version than it was told, whose structs may differ") {
  const auto [said, code] = end_of_useless(real_worker(kSimulator, "1.2.3"));
  CHECK(said.find("E worker: ") == 0);
  CHECK(said.find("it was version 1.2.3, and is 1.3.0 now") != std::string::npos);
  CHECK(code == 3);
}

TEST_CASE("signals that are for the server do not end a worker, which ends by itself when the server has closed it") {
  const WorkingWorker worker;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::kill(worker.process->id(), signal);
  const DescriptorPair place = worker.process->open("llm-1");
  worker.process->end(kWorkerPatience);
  const auto end = worker.process->ended();
  REQUIRE(end);
  CHECK(end->signal == 0);
  CHECK(end->exit_code == 0);
}

TEST_CASE("a worker may open as many files as the system lets it, however few the server has kept to") {
  const FewFiles few(128);
  const WorkingWorker worker;
  const auto limits = words_of_line(worker.file_of("limits"), "Max open files");
  REQUIRE(limits.size() >= 2);
  CHECK(limits[0] == limits[1]);
  CHECK(limits[0] != "128");
}

TEST_CASE("a model that a worker has no file descriptors for is refused, and the worker goes on") {
  WorkingWorker worker;
  const rlimit none{3, 3};  // the numbers below are in use
  REQUIRE(::prlimit(worker.process->id(), RLIMIT_NOFILE, &none, nullptr) == 0);
  const auto model = worker.engine.new_model("llm-1", [](const RpcError&) {});
  CallRequest request;
  request.method = find_method(choose_abi_set(kSimulatorVersion, "").set->methods, HandleRole::kCreates);
  request.params = Json{{"param", {{"model_path", "/nowhere/a.rkllm"}}}};
  const CallOutcome outcome = model->call(request);
  REQUIRE(outcome.error);
  CHECK_THAT(as_rpc_error(outcome.error).what(), has_text("the worker process has no room for another model"));
  CHECK_FALSE(worker.process->ended());
}

TEST_CASE("what the library starts in a worker does not get the worker's control socket") {
  const WorkingWorker worker;
  const auto flags = words_of_line(worker.file_of("fdinfo/" + std::to_string(ChildProcess::kControlSocket)), "flags:");
  REQUIRE(flags.size() == 1);
  CHECK((std::stoul(flags[0], nullptr, 8) & static_cast<unsigned long>(O_CLOEXEC)) != 0);
}

TEST_CASE("a library that does not come back is left behind when the server has closed its worker") {
  const TemporaryDirectory directory;
  const std::string path = directory / "hangs.json";
  write_file(path, R"({"rkllm_simulated_model":1,"name":"SIMULATED hangs","faults":[{"when":"init","what":"hang"}]})");
  WorkingWorker worker;
  const auto model = worker.engine.new_model("llm-1", [](const RpcError&) {});
  const auto loading = std::async(std::launch::async, [&model, &path] {
    CallRequest request;
    request.method = find_method(choose_abi_set(kSimulatorVersion, "").set->methods, HandleRole::kCreates);
    request.params = Json{{"param", {{"model_path", path}}}};
    return model->call(request);
  });
  // Its title says what it loads.
  REQUIRE(eventually([&] { return worker.file_of("cmdline").find("hangs") != std::string::npos; }));
  worker.process->end(kWorkerPatience);
  const auto end = worker.process->ended();
  REQUIRE(end);
  CHECK(end->signal == 0);
  CHECK(end->exit_code == 0);
}
