#include "app/from_settings.hpp"

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"
#include "support/refusal.hpp"

#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

using namespace rkllm_mcp;
using namespace std::chrono_literals;

namespace {

Settings with_library(const std::string& library, Fallback fallback) {
  Settings settings;
  settings.runtime.library = library;
  settings.runtime.fallback = fallback;
  return settings;
}

}  // namespace

TEST_CASE("the models are chosen as runtime, queue, chat and models say") {
  Settings settings;
  settings.models = Json{{"a", {{"param", {{"model_path", "/models/a.rkllm"}}}}}};
  settings.runtime.model_dirs = {"/models", "/more"};
  settings.runtime.default_context = 2048;
  settings.runtime.isolation = Isolation::kThread;
  settings.chat.aliases = Json{{"gpt", "a"}};
  settings.chat.any_model = "a";
  settings.queue.max_per_handle = 7;
  settings.queue.max_per_token = 3;
  const auto choices = model_choices(settings);
  CHECK(choices.presets == settings.models);
  CHECK(choices.model_dirs == std::vector<std::string>{"/models", "/more"});
  CHECK(choices.aliases == settings.chat.aliases);
  CHECK(choices.any_model == "a");
  CHECK(choices.default_context == 2048);
  CHECK(choices.most_waiting == 7);
  CHECK(choices.most_per_holder == 3);
  CHECK(choices.has_one_process);
  settings.runtime.isolation = Isolation::kProcess;
  CHECK_FALSE(model_choices(settings).has_one_process);
}

TEST_CASE("a model stays loaded for as long as runtime.keep_alive_s says, below 0 for ever") {
  Settings settings;
  settings.runtime.keep_alive_s = 90s;
  CHECK_FALSE(model_choices(settings).keep_alive.forever);
  CHECK(model_choices(settings).keep_alive.seconds == 90);
  settings.runtime.keep_alive_s = 0s;
  CHECK(model_choices(settings).keep_alive.unloads());
  settings.runtime.keep_alive_s = -1s;
  CHECK(model_choices(settings).keep_alive.forever);
  CHECK(model_choices(settings).keep_alive.seconds == 0);
  CHECK_FALSE(model_choices(settings).keep_alive.unloads());
}

TEST_CASE("the streams of turns and of calls share one part of the server's memory each") {
  Settings settings;
  settings.stream.memory_bytes = 1000;
  settings.stream.buffer_bytes = 200;
  settings.limits.stall_s = 9s;
  Counts counts;
  const MemoryBudget memory(1'000'000);
  const auto turns = stream_options(settings, counts, memory);
  CHECK(turns.buffer_bytes == 200);
  CHECK(turns.stall == 9s);
  CHECK(turns.counts == &counts);
  CHECK(turns.memory.limit() == 1000);
  const auto calls = dispatcher_options(settings, counts, memory);
  CHECK(calls.calls.stream_memory.limit() == 1000);
  CHECK(calls.calls.stream_buffer_bytes == 200);
  CHECK(calls.calls.counts == &counts);
  CHECK(calls.memory.limit() == 1'000'000);
  MemoryShare share(turns.memory);
  share.set(300);
  CHECK(memory.used() == 300);
  CHECK(calls.calls.stream_memory.used() == 0);
}

TEST_CASE("limits of messages and of calls are those of their settings") {
  Settings settings;
  settings.limits.max_depth = 5;
  settings.limits.max_id_bytes = 6;
  settings.limits.max_message_bytes = 7;
  settings.limits.max_reply_bytes = 8;
  settings.limits.max_requests_per_connection = 9;
  settings.mcp.inline_bytes = 10;
  settings.queue.timeout_s = 11s;
  settings.auth.timeout_s = 12s;
  settings.udp.retained_chunks = 13;
  Counts counts;
  const auto options = dispatcher_options(settings, counts, {});
  CHECK(options.message.max_depth == 5);
  CHECK(options.message.max_id_bytes == 6);
  CHECK(options.calls.answer_bytes == 7);
  CHECK(options.calls.reply_bytes == 8);
  CHECK(options.calls.requests_per_session == 9);
  CHECK(options.calls.inline_bytes == 10);
  CHECK(options.calls.queue_timeout == 11s);
  CHECK(options.time_to_prove == 12s);
  CHECK(options.calls.retained_chunks == 13);
}

TEST_CASE("access tokens are read from their file, which has to be there") {
  const test::TemporaryDirectory directory;
  test::write_file(directory / "tokens", "ann 0123456789abcdef0123456789abcdef call\n");
  REQUIRE(::chmod((directory / "tokens").c_str(), 0600) == 0);
  Settings settings;
  Counts counts;
  CHECK(dispatcher_options(settings, counts, {}).tokens.empty());
  settings.auth.tokens = directory / "tokens";
  CHECK_FALSE(dispatcher_options(settings, counts, {}).tokens.empty());
  settings.auth.tokens = directory / "nothing";
  CHECK_THROWS_AS(dispatcher_options(settings, counts, {}), std::runtime_error);
}

TEST_CASE("the library is searched for where the settings name it, and the simulator only where they allow it") {
  using Simulator = LibrarySearch::Simulator;
  const auto search = [](const std::string& library, Fallback fallback) {
    return library_search(with_library(library, fallback));
  };
  CHECK(search("", Fallback::kNone).library.empty());
  CHECK(search("", Fallback::kNone).simulator == Simulator::kNever);
  CHECK(search("", Fallback::kSimulator).simulator == Simulator::kAsFallback);
  CHECK(search("/lib/own.so", Fallback::kNone).library == "/lib/own.so");
  CHECK(search("/lib/own.so", Fallback::kNone).simulator == Simulator::kNever);
  CHECK(search("/lib/own.so", Fallback::kSimulator).library == "/lib/own.so");
  for (const Fallback fallback : {Fallback::kNone, Fallback::kSimulator}) {
    CHECK(search("simulator", fallback).library.empty());  // it is no path
    CHECK(search("simulator", fallback).simulator == Simulator::kAlways);
  }
}

TEST_CASE("a library is known for the simulator by what it is, not by its name") {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "librkllmrt.so";
  std::filesystem::copy_file(test::kSimulator, path);
  CHECK(finds_simulator(with_library(path, Fallback::kNone)));
  std::filesystem::create_symlink(path, directory / "link.so");
  CHECK(finds_simulator(with_library(directory / "link.so", Fallback::kNone)));
}

TEST_CASE("a library that cannot be used is not taken for the simulator, unless that is what was asked for") {
  const test::TemporaryDirectory directory;
  const std::string nonsense = directory / "librkllm_sim.so";
  test::write_file(nonsense, "SIMULATED RKLLM SDK, and no library");
  for (const Fallback fallback : {Fallback::kNone, Fallback::kSimulator}) {
    CHECK_FALSE(finds_simulator(with_library(nonsense, fallback)));
    CHECK_FALSE(finds_simulator(with_library(directory / "simulator", fallback)));
    CHECK_FALSE(finds_simulator(with_library(directory.path(), fallback)));
    CHECK(finds_simulator(with_library("simulator", fallback)));  // whether this program has one or not
  }
}

TEST_CASE("the library is given a model's path as the rules of files have it") {
  const test::TemporaryDirectory directory;
  const test::TemporaryDirectory other;
  test::write_file(directory / "a.rkllm", "1");
  test::write_file(other / "b.rkllm", "1");
  Settings settings;
  settings.runtime.model_dirs = {directory.path()};
  CHECK(path_for_library(settings, "a.rkllm") == (directory / "a.rkllm"));
  CHECK(path_for_library(settings, directory / "a.rkllm") == (directory / "a.rkllm"));
  CHECK_THROWS(path_for_library(settings, other / "b.rkllm"));
}
