// One runtime: where there is none, where it is in this process, and where it is in workers. What is said of a library
// that was replaced stands in runtime_life_test.cpp, whole workers in tests/server/e2e.
#include "app/runtime/runtime.hpp"

#include "jsonrpc/envelope.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"
#include "support/refusal.hpp"

#include <rkllm_mcp/abi_set.hpp>
#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/method.hpp>

#include <spdlog/logger.h>
#include <asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

// Waits for the end of a call.
class EndOfCall final : public CallObserver {
 public:
  void on_token(std::size_t, std::optional<std::string_view>, std::int32_t) noexcept override {}
  void on_rows(const FloatRows&) noexcept override {}
  void on_done(CallOutcome outcome) noexcept override { outcome_.set_value(std::move(outcome)); }
  CallOutcome wait() {
    auto outcome = outcome_.get_future();
    REQUIRE(outcome.wait_for(std::chrono::seconds(60)) == std::future_status::ready);
    return outcome.get();
  }

 private:
  std::promise<CallOutcome> outcome_;
};

Settings with_runtime(const std::string& library, Isolation isolation = Isolation::kThread) {
  Settings settings;
  settings.runtime.library = library;
  settings.runtime.isolation = isolation;
  return settings;
}

struct Made {
  explicit Made(const Settings& settings) : runtime(std::make_unique<Runtime>(loop, settings, log, counts)) {}
  explicit Made(std::unique_ptr<Runtime> made) : runtime(std::move(made)) {}

  // A call of a method that needs no handle.
  CallOutcome call() const {
    const Method* const method = find_method(runtime->abi().methods, "rkllm_createDefaultParam");
    REQUIRE(method != nullptr);
    const auto observer = std::make_shared<EndOfCall>();
    runtime->backend()->start({.method = method, .params = Json::object(), .observer = observer});
    return observer->wait();
  }

  asio::io_context loop;
  spdlog::logger log{"test"};
  Counts counts;
  std::unique_ptr<Runtime> runtime;
};

const AbiSet& newest() { return *abi_sets().back(); }

// What holds of each runtime without a library.
void check_there_is_none(const Made& made, const std::string& reason) {
  Runtime& runtime = *made.runtime;
  const CallOutcome outcome = made.call();
  REQUIRE(outcome.error);
  CHECK(as_rpc_error(outcome.error).code() == ErrorCode::kRuntimeUnavailable);
  CHECK(std::string(as_rpc_error(outcome.error).what()).find(reason) != std::string::npos);
  CHECK(runtime.trouble().find(reason) != std::string::npos);
  CHECK(runtime.description().find("no runtime: ") == 0);
  CHECK(runtime.description().find(reason) != std::string::npos);
  const Json status = runtime.status();
  for (const char* const unknown : {"path", "version", "abi", "simulated"}) CHECK(status.at(unknown).is_null());
  CHECK(status["reason"] == runtime.trouble());
  CHECK(&runtime.abi() == &newest());  // clients can still read what they could call
  CHECK(runtime.version() == newest().version);
  CHECK_FALSE(runtime.simulated());
  CHECK_FALSE(runtime.file());
  CHECK_FALSE(runtime.is_bound());
  CHECK(runtime.queued() == nullptr);
  CHECK(runtime.handles().empty());
  CHECK(runtime.use() == QueuedBackend::Use::kIdle);
  runtime.when_lost([](const std::string&) { FAIL("there is nothing to lose"); });
  CHECK_NOTHROW(runtime.try_out());
  CHECK(runtime.shut_down(Clock::now()));
}

}  // namespace

TEST_CASE("without a library every call says why, and what could be called is still known") {
  check_there_is_none(Made(std::make_unique<Runtime>(runtime_unavailable("it rains"))), "it rains");
}

TEST_CASE("a library that cannot be used is none, wherever it was to run, and the reason names it") {
  const TemporaryDirectory directory;
  const std::string nonsense = directory / "nonsense.so";
  write_file(nonsense, "no library");
  for (const Isolation isolation : {Isolation::kThread, Isolation::kProcess}) {
    for (const std::string& library : {nonsense, directory / "absent.so"}) {
      INFO(library);
      check_there_is_none(Made(with_runtime(library, isolation)), library);
    }
  }
}

TEST_CASE("a set of bindings that there is not is refused by its name, and no library is held") {
  Settings settings = with_runtime(kSimulator);
  settings.runtime.abi = "9.9.9";
  check_there_is_none(Made(settings), "9.9.9");
}

TEST_CASE("a library in this process answers, and is told of as what it is and where") {
  const Made made(with_runtime(kSimulator));
  Runtime& runtime = *made.runtime;
  CHECK(runtime.trouble().empty());
  CHECK_FALSE(made.call().error);
  CHECK(runtime.is_bound());
  CHECK(runtime.simulated());
  CHECK(runtime.version() == "1.3.0");
  CHECK(runtime.description().find("SIMULATED runtime 1.3.0 (") == 0);
  CHECK(runtime.description().find("in this process") != std::string::npos);
  const Json status = runtime.status();
  CHECK(status["isolation"] == "thread");
  CHECK(status["path"] == std::filesystem::canonical(kSimulator).string());
  CHECK(status["version"] == "1.3.0");
  CHECK(status["abi"] == "1.3.0");
  CHECK(status["note"].get<std::string>().find("SIMULATED") == 0);
  CHECK(status["reason"].is_null());
  CHECK(status["handles"] == Json::array());
  CHECK_NOTHROW(runtime.try_out());  // it has been loaded
  CHECK(runtime.shut_down(Clock::now() + std::chrono::seconds(60)));
}

TEST_CASE("a library in this process stays until the server's end: only that can bring another one") {
  const TemporaryDirectory directory;
  const std::string path = directory / "librkllmrt.so";
  std::filesystem::copy_file(kSimulator, path);
  const Made made(with_runtime(path));
  REQUIRE(made.runtime->trouble().empty());
  std::filesystem::remove(path);
  const std::string reason = made.runtime->status()["reason"];
  CHECK(reason.find("is gone") != std::string::npos);
  CHECK(reason.find("restart the server") != std::string::npos);
  CHECK(reason.find("SIGHUP") == std::string::npos);
  CHECK_FALSE(made.call().error);
}

TEST_CASE("whether what is found now is another library than what is served") {
  const TemporaryDirectory directory;
  const std::string absent = directory / "absent.so";
  const Made made(with_runtime(kSimulator));
  const std::optional<LibraryFile> none;
  CHECK_FALSE(Runtime::is_outdated(made.runtime->file(), with_runtime(kSimulator)));
  CHECK(Runtime::is_outdated(made.runtime->file(), with_runtime(absent)));
  CHECK(Runtime::is_outdated(none, with_runtime(kSimulator)));
  CHECK_FALSE(Runtime::is_outdated(none, with_runtime(absent)));
}

TEST_CASE("the bindings are those that the settings name, whatever version the library is of") {
  Settings settings = with_runtime(kSimulator, Isolation::kProcess);
  settings.runtime.abi = "1.2.3";
  const Made made(settings);
  CHECK(made.runtime->abi().version == "1.2.3");
  CHECK(made.runtime->status()["abi"] == "1.2.3");
  CHECK(made.runtime->version() == "1.3.0");
  CHECK_FALSE(made.runtime->warning().empty());
  CHECK(Made(with_runtime(kSimulator, Isolation::kProcess)).runtime->warning().empty());
}

// Workers are processes of the program that is running, which is this test here, and serves no models.
TEST_CASE("a library for workers is not in this process, and one that no worker can serve fails when it is tried out") {
  const Made made(with_runtime(kSimulator, Isolation::kProcess));
  Runtime& runtime = *made.runtime;
  CHECK(runtime.trouble().empty());
  CHECK_FALSE(runtime.is_bound());
  CHECK(runtime.file());
  CHECK(runtime.status()["isolation"] == "process");
  CHECK(runtime.description().find("in worker processes") != std::string::npos);
  CHECK(test::refusal_of([&] { runtime.try_out(); }) == ErrorCode::kRuntimeUnavailable);
  const CallOutcome outcome = made.call();
  REQUIRE(outcome.error);
  CHECK(as_rpc_error(outcome.error).code() == ErrorCode::kRuntimeUnavailable);
  CHECK(runtime.shut_down(Clock::now() + std::chrono::seconds(60)));
}
