// Inputs made up by a test, written where the generator can read them.
#pragma once

#include "files.hpp"

#include "support/paths.hpp"

#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

namespace bindgen::test {

// An empty folder below the build directory. Each process has its own: tests run side by side.
inline std::filesystem::path scratch(const std::string& name) {
  std::filesystem::path folder = std::filesystem::path(rkllm_mcp::test::build_directory()) / "tests/generator/scratch" /
                                 std::to_string(::getpid()) / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

// Makes missing folders.
inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string file(const std::filesystem::path& folder, const std::string& name, const std::string& text) {
  write_text(folder / name, text);
  return (folder / name).string();
}

// An overlay with these entries (JSON, comma separated).
inline std::string overlay(const std::string& entries) {
  return R"({"output":{"namespace":"made_up","include":"made_up"},"returns":{"int":{"status":{}}},"entries":[)" +
         entries + "]}\n";
}

// The versions whose headers are in generator/headers, oldest first.
inline constexpr std::array<const char*, 7> kVersions = {"1.0.0b",  "1.0.1", "1.1.4", "1.2.0",
                                                         "1.2.1b1", "1.2.3", "1.3.0"};
inline std::string header_of(const std::string& version) {
  return std::string(REPOSITORY) + "/generator/headers/rkllm_" + version + ".h";
}
inline const std::string kHeader = header_of("1.3.0");
inline const std::string kOverlay = std::string(REPOSITORY) + "/generator/overlay/rkllm.overlay.json";

}  // namespace bindgen::test
