// The runtime's life without a runtime: hosts that have none, and a library that is there to be found.
#include "app/runtime/runtime_life.hpp"

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"

#include <rkllm_mcp/errors.hpp>

#include <spdlog/logger.h>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::chrono::seconds kPatience{60};

std::unique_ptr<Runtime> none_because(const std::string& reason) {
  return std::make_unique<Runtime>(runtime_unavailable(reason));
}

Settings with_simulator() {
  Settings settings;
  settings.runtime.library = test::kSimulator;
  return settings;
}

// Begins without a runtime; `make` is asked for the next ones.
struct Life {
  explicit Life(RuntimeLife::MakeFunction make)
      : life(loop, settings, log, [this, next = std::move(make)](const Settings& now) {
          return std::exchange(is_first, false) ? none_because("none at first") : next(now);
        }) {}

  // Runs the loop until it has said what it was asked for, which may throw.
  void await(const std::function<bool()>& reached) {
    loop.restart();
    const auto work = asio::make_work_guard(loop);
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!reached()) {
      REQUIRE(std::chrono::steady_clock::now() < deadline);
      loop.run_one_for(std::chrono::milliseconds(100));
    }
  }
  void await_trouble(const std::string& text) {
    await([&] { return life.now().trouble().find(text) != std::string::npos; });
  }

  bool is_first = true;
  asio::io_context loop;
  Settings settings = with_simulator();
  spdlog::logger log{"test"};
  RuntimeLife life;
};

}  // namespace

TEST_CASE(
    "what is found later is found beside the event loop, with the settings as they were when it was told to look") {
  std::thread::id finder;
  std::promise<void> looking;
  std::promise<void> let_go;
  Life with([&](const Settings& settings) {
    finder = std::this_thread::get_id();
    looking.set_value();
    let_go.get_future().wait();
    return none_because("found for " + settings.server.name);
  });
  with.settings.server.name = "one";
  with.life.look_again();
  looking.get_future().wait();
  CHECK(with.life.state() == RuntimeLife::State::kFinding);
  with.settings.server.name = "other";
  let_go.set_value();
  with.await_trouble("found for one");
  CHECK(finder != std::this_thread::get_id());
}

TEST_CASE("a look for the runtime that hangs does not hold up the end") {
  std::promise<void> looking;
  std::promise<void> let_go;
  Life with([&](const Settings&) {
    looking.set_value();
    let_go.get_future().wait();
    return none_because("found too late");
  });
  with.life.look_again();
  looking.get_future().wait();
  with.life.settle();
  CHECK_FALSE(with.life.shut_down(std::chrono::steady_clock::now() + std::chrono::milliseconds(20)));
  let_go.set_value();
  CHECK(with.life.shut_down(std::chrono::steady_clock::now() + kPatience));
}

TEST_CASE("a look for the runtime that breaks off is told of, and does not prevent the next one") {
  int looks = 0;
  Life with([&](const Settings&) {
    if (++looks == 1) throw std::logic_error("a fault");
    return none_because("found at last");
  });
  with.life.look_again();
  CHECK_THROWS_WITH(with.await([] { return false; }), "a fault");
  CHECK(with.life.state() == RuntimeLife::State::kGone);
  with.life.look_again();
  with.await_trouble("found at last");
}

TEST_CASE("a replacement that nobody can be told of does not prevent the next one") {
  int looks = 0;
  Life with([&](const Settings&) { return none_because("found " + std::to_string(++looks)); });
  bool breaks = true;
  with.life.start([] {},
                  [&] {
                    if (std::exchange(breaks, false)) throw std::logic_error("a fault");
                  });
  with.life.look_again();
  CHECK_THROWS_WITH(with.await([] { return false; }), "a fault");
  with.life.look_again();
  with.await_trouble("found 2");
}

TEST_CASE("a library that was replaced on the disk while it serves is told of, with the cure, until it is taken") {
  namespace fs = std::filesystem;
  const test::TemporaryDirectory directory;
  const std::string path = directory / "librkllmrt.so";
  fs::copy_file(test::kSimulator, path);
  Settings settings;
  settings.runtime.library = path;
  asio::io_context loop;
  spdlog::logger log{"test"};
  Counts counts;
  const Runtime host(loop, settings, log, counts);
  REQUIRE(host.trouble().empty());
  CHECK(host.status()["reason"].is_null());
  CHECK_FALSE(Runtime::is_outdated(host.file(), settings));

  fs::copy_file(test::kSimulator, path + ".new");  // as packages do, of the same version
  fs::rename(path + ".new", path);
  const auto reason = host.status()["reason"].get<std::string>();
  CHECK(reason.find(path + " has been replaced since version 1.3.0") == 0);
  CHECK(reason.find("SIGHUP") != std::string::npos);
  CHECK(reason.find("restart") != std::string::npos);
  CHECK(Runtime::is_outdated(host.file(), settings));
  CHECK(Runtime(loop, settings, log, counts).status()["reason"].is_null());

  fs::remove(path);
  CHECK(host.status()["reason"].get<std::string>().find(path + " is gone") == 0);
}

TEST_CASE("a link that leads to another library by now is told of") {
  namespace fs = std::filesystem;
  const test::TemporaryDirectory directory;
  fs::copy_file(test::kSimulator, directory / "old.so");
  fs::copy_file(test::kSimulator, directory / "new.so");
  const std::string link = directory / "librkllmrt.so";
  fs::create_symlink("old.so", link);
  Settings settings;
  settings.runtime.library = link;
  asio::io_context loop;
  spdlog::logger log{"test"};
  Counts counts;
  const Runtime host(loop, settings, log, counts);
  CHECK(host.status()["reason"].is_null());
  fs::remove(link);
  fs::create_symlink("new.so", link);
  CHECK(host.status()["reason"].get<std::string>().find(link + " has been replaced") == 0);
}

}  // namespace rkllm_mcp
