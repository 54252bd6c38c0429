// One folder per C idiom: input.h and overlay.json, and what comes of them: model.json (the facts, as the api file
// tells them) and expected.hpp (types, codecs and methods). A new folder is a new test; its run_test.cpp calls what was
// generated. BINDGEN_BLESS=1 writes the goldens.
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
std::string joined(const std::vector<File>& files, const std::string& set) {
  std::string text = "// clang-format off\n";
  for (const File& file : files) {
    if (file.path.find("/" + set + "/") == std::string::npos) continue;
    for (const std::string& line : lines_of(file.text)) {
      const bool is_own_include = line.find("#include <rkllm_mcp/" + set + "/") == 0;
      if (line != "#pragma once" && !is_own_include) text += line + "\n";
    }
  }
  return text;
}

// Each golden has a namespace of its own, so that all of them can be one program: v1_batch.
std::string version_of(const fs::path& folder) { return "1." + folder.filename().string(); }

}  // namespace

TEST_CASE("each case gives what its goldens say") {
  REQUIRE(cases().size() >= 12);
  for (const fs::path& folder : cases()) {
    INFO(folder.filename().string());
    const Api api =
        read_api({(folder / "input.h").string(), version_of(folder)}, read_overlay((folder / "overlay.json").string()));
    test::compare_with_golden(folder / "model.json", emit_api(api).text);
    test::compare_with_golden(folder / "expected.hpp", joined(emit({api}), "v1_" + folder.filename().string()));
  }
}
