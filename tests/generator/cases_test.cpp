// One folder per idiom: input.h and overlay.json, and what comes of them: model.json (the facts, as the api file tells
// them) and expected.hpp (types, codecs and methods). Where there is an older.h, both versions are generated together.
// A new folder is a new test; its run_test.cpp calls what was generated. BINDGEN_BLESS=1 writes the goldens.
#include "golden.hpp"
#include "support/catch.hpp"
#include "temporary.hpp"

#include "generate.hpp"

#include <algorithm>

using namespace bindgen;

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> cases() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(fs::path(REPOSITORY) / "tests/generator/cases")) {
    if (entry.is_directory()) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// One file that compiles by itself: the generated headers one after the other, without the #includes of each other.
// What is written once for all versions has the name of the case, too.
std::string joined(const std::vector<File>& files, const std::string& name) {
  std::string text = "// clang-format off\n";
  for (const File& file : files) {
    if (file.path.find("/v") != std::string::npos || file.path.find("/any_version/") != std::string::npos) {
      for (std::string line : lines_of(file.text)) {
        const auto includes = [&](const char* of) {
          return line.rfind("#include <rkllm_mcp/" + std::string(of), 0) == 0;
        };
        const bool is_own_include = includes("v0_") || includes("v1_") || includes("any_version/");
        if (line == "#pragma once" || is_own_include) continue;
        const std::string shared = "any_version";
        for (auto at = line.find(shared); at != std::string::npos; at = line.find(shared, at)) {
          line.replace(at, shared.size(), "any_" + name);
        }
        text += line + "\n";
      }
    }
  }
  return text;
}

// What a case generates, oldest version first. Each golden has a namespace of its own, so that all of them can be one
// program: v1_batch; and v0_batch if there is an older.h, which overlays tell by "until": "0.8", "since": "0.9".
std::vector<Request> requests_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  std::vector<Request> requests;
  if (fs::exists(folder / "older.h")) requests.push_back({(folder / "older.h").string(), "0." + name});
  requests.push_back({(folder / "input.h").string(), "1." + name});
  return requests;
}

}  // namespace

TEST_CASE("each case gives what its goldens say") {
  REQUIRE(cases().size() >= 15);
  for (const fs::path& folder : cases()) {
    INFO(folder.filename().string());
    const std::string overlay = (folder / "overlay.json").string();
    const auto requests = requests_of(folder);
    const Api newest = read_api(requests.back(), read_overlay(overlay));
    test::compare_with_golden(folder / "model.json", emit_api(newest).text);
    const std::string name = folder.filename().string();
    test::compare_with_golden(folder / "expected.hpp", joined(generate(requests, overlay), name));
  }
}
