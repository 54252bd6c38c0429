#include "support/catch.hpp"
#include "temporary.hpp"

#include "command_line.hpp"
#include "generate.hpp"
#include "line_diff.hpp"
#include "output.hpp"

using namespace bindgen;

namespace {

std::vector<File> generated() { return generate({{test::kHeader, "1.3.0"}}, test::kOverlay); }

}  // namespace

TEST_CASE("generating twice gives the same bytes") {
  const auto once = generated();
  const auto again = generated();
  REQUIRE(once.size() == again.size());
  CHECK(once.size() == 11);
  for (std::size_t i = 0; i < once.size(); ++i) {
    CHECK(once[i].path == again[i].path);
    CHECK((once[i].text == again[i].text));
  }
}

TEST_CASE("the output names no folder of this machine, wherever the header lies") {
  const auto folder = test::scratch("elsewhere");
  const std::string copy = test::file(folder, "rkllm_1.3.0.h", read_text(test::kHeader));
  const auto here = generated();
  const auto there = generate({{copy, "1.3.0"}}, test::kOverlay);
  for (std::size_t i = 0; i < here.size(); ++i) {
    INFO(here[i].path);
    CHECK((here[i].text == there[i].text));
    CHECK(here[i].text.find(REPOSITORY) == std::string::npos);
  }
}

TEST_CASE("no generated line decides or repeats anything") {
  for (const File& file : emit({read_api({test::kHeader, "1.3.0"}, read_overlay(test::kOverlay))})) {
    if (file.path.find(".hpp") == std::string::npos) continue;
    for (const std::string& line : lines_of(file.text)) {
      if (line.find("//") != std::string::npos || line.find('"') != std::string::npos) continue;
      INFO(file.path << ": " << line);
      for (const char* word : {"if (", "for (", "while (", "switch ("}) CHECK(line.find(word) == std::string::npos);
    }
  }
}

TEST_CASE("a file is written only if its bytes change, and removed when it is not generated any more") {
  const auto folder = test::scratch("output");
  const File manifest{kManifestName, R"({"files":["a.hpp","b/c.hpp","manifest.json"]})"};
  const File a{"a.hpp", "a\n"};
  const File c{"b/c.hpp", "c\n"};
  CHECK(write(folder, {a, c, manifest}).size() == 3);
  CHECK(write(folder, {a, c, manifest}).empty());
  CHECK(differences(folder, {a, c, manifest}).empty());
  test::file(folder, "mine.hpp", "not generated\n");
  const File smaller{kManifestName, R"({"files":["a.hpp","manifest.json"]})"};
  CHECK(differences(folder, {a, smaller}).find("b/c.hpp: is not generated any more") != std::string::npos);
  CHECK(write(folder, {a, smaller}) == std::vector<std::string>{"b/c.hpp", "manifest.json"});
  CHECK_FALSE(std::filesystem::exists(folder / "b/c.hpp"));
  CHECK(std::filesystem::exists(folder / "mine.hpp"));
  CHECK(differences(folder, {{"a.hpp", "a\nb\n"}, smaller}).find("+b") != std::string::npos);
}

TEST_CASE("a difference is told line by line") {
  CHECK(line_diff("a\nb\nc\n", "a\nb\nc\n").empty());
  CHECK(line_diff("a\nb\nc\n", "a\nx\nc\n") == "@@ line 2\n-b\n+x\n");
  CHECK(line_diff("a\nb\nc\nd\n", "b\nc\nd\ne\n") == "@@ line 1\n-a\n@@ line 5\n+e\n");
  CHECK(line_diff("1\n2\n3\n", "", 2) == "@@ line 1\n-1\n-2\n... and more\n");
}
