// Versions that have no ABI set of their own: what is generated from the interface as they published it is what is
// generated for the set that stands for them.
#include "support/catch.hpp"
#include "temporary.hpp"

#include "compare/diff.hpp"
#include "generate.hpp"
#include "read/header.hpp"

#include <map>

using namespace bindgen;

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// The published 1.2.1 and 1.2.2 are the published 1.2.3, but for the name of one struct.
std::string header_of_1_2_1() {
  return replaced(read_text(test::header_of("1.2.3")), "RKLLMMultiModalInput", "RKLLMMultiModelInput");
}

// By path, with what tells one version from the other made the same.
std::map<std::string, std::string> generated_alone(const std::string& header, const std::string& version) {
  const auto folder = test::scratch("versions_between");
  std::map<std::string, std::string> files;
  for (const File& file : generate({{test::file(folder, "x.h", header), version}}, test::kOverlay,
                                   {"1.1.4", "1.2.0", "1.2.1b1", "1.2.1", "1.2.2", "1.2.3", "1.3.0"})) {
    if (file.path == "manifest.json") continue;
    std::string text = replaced(replaced(file.text, version, "V"), replaced("v" + version, ".", "_"), "vV");
    text = replaced(text, "RKLLMMultiModalInput", "RKLLMMultiModelInput");
    files[replaced(replaced(file.path, version, "V"), replaced("v" + version, ".", "_"), "vV")] = text;
  }
  return files;
}

}  // namespace

TEST_CASE("1.2.1 and 1.2.2 as they were published are understood, and are what stands for them") {
  const auto expected = generated_alone(read_text(test::header_of("1.2.3")), "1.2.3");
  for (const char* version : {"1.2.1", "1.2.2"}) {
    INFO(version);
    const auto found = generated_alone(header_of_1_2_1(), version);
    REQUIRE(found.size() == expected.size());
    for (const auto& [path, text] : expected) {
      INFO(path);
      CHECK((found.at(path) == text));
    }
  }
  const auto folder = test::scratch("versions_between_diff");
  const auto changes =
      diff(read_header(test::file(folder, "x.h", header_of_1_2_1())), read_header(test::header_of("1.2.3")));
  for (const Change& change : changes) {
    INFO(line_of(change));
    CHECK(change.breaks != Breaks::kAbi);
  }
  REQUIRE_FALSE(changes.empty());
  CHECK(line_of(changes.front()) ==
        "renamed struct RKLLMMultiModalInput: RKLLMMultiModelInput -> RKLLMMultiModalInput");
}
