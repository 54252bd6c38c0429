#include "app/runtime_search.hpp"

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"

#include <filesystem>
#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

Settings with_library(const std::string& library, Fallback fallback) {
  Settings settings;
  settings.runtime.library = library;
  settings.runtime.fallback = fallback;
  return settings;
}

}  // namespace

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
  const TemporaryDirectory directory;
  const std::string path = directory / "librkllmrt.so";
  std::filesystem::copy_file(kSimulator, path);
  CHECK(finds_simulator(with_library(path, Fallback::kNone)));
  std::filesystem::create_symlink(path, directory / "link.so");
  CHECK(finds_simulator(with_library(directory / "link.so", Fallback::kNone)));
}

TEST_CASE("a library that cannot be used is not taken for the simulator, unless that is what was asked for") {
  const TemporaryDirectory directory;
  const std::string nonsense = directory / "librkllm_sim.so";
  write_file(nonsense, "SIMULATED RKLLM SDK, and no library");
  for (const Fallback fallback : {Fallback::kNone, Fallback::kSimulator}) {
    CHECK_FALSE(finds_simulator(with_library(nonsense, fallback)));
    CHECK_FALSE(finds_simulator(with_library(directory / "simulator", fallback)));
    CHECK_FALSE(finds_simulator(with_library(directory.path(), fallback)));
    CHECK(finds_simulator(with_library("simulator", fallback)));  // whether this program has one or not
  }
}
