// The project file: what it says, and that what it says wrongly is told with its place.
#include "support/catch.hpp"
#include "temporary.hpp"

#include "diagnostics.hpp"
#include "project.hpp"

using namespace bindgen;
using rkllm_mcp::test::has_text;

namespace {

std::string project_refusal(const std::string& text) {
  const std::string path = test::file(test::scratch("project"), "bindgen.json", text);
  try {
    read_project(path);
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return "accepted";
}

std::string sets_refusal(const std::string& sets) {
  return project_refusal(R"({"overlay":"o.json","out":"generated","sets":[)" + sets + "]}");
}

}  // namespace

TEST_CASE("the project of this repository is read") {
  const Project project = read_project(REPOSITORY "/generator/bindgen.json");
  CHECK(project.out == "generated");
  REQUIRE(project.sets.size() == 5);
  CHECK(project.sets.back().version == "1.3.0");
  CHECK(project.sets.back().stands_for.empty());
  CHECK(project.sets[3].stands_for == std::vector<std::string>{"1.2.1", "1.2.2", "1.2.3"});
}

TEST_CASE("a project file that says what none can mean is refused with the place") {
  CHECK_THAT(project_refusal("{\n  \"out\": \n"), has_text("bindgen.json:3:1: error: this is no JSON"));
  CHECK_THAT(project_refusal("[]"), has_text("bindgen.json: error: expected \"object\", found array"));
  CHECK_THAT(project_refusal("{}"), has_text(R"("overlay" is missing)") && has_text(R"("out" is missing)"));
  CHECK_THAT(project_refusal(R"({"overlay":1,"out":"o","sets":[],"more":2})"),
             has_text(R"(/overlay: expected "string", found number)") && has_text(R"(unknown key "more")"));
  CHECK_THAT(sets_refusal("3"), has_text(R"(/sets/0: expected "object", found number)"));
  CHECK_THAT(sets_refusal(R"({"version":1,"header":"x.h"})"), has_text("/sets/0/version: expected"));
  CHECK_THAT(sets_refusal(R"({"version":"../1","header":"x.h"})"), has_text("/sets/0/version: expected"));
  CHECK_THAT(sets_refusal(R"({"version":"1","header":"x.h","stands_for":"1"})"),
             has_text("/sets/0/stands_for: expected"));
}

TEST_CASE("two sets are neither generated into one folder nor claim one version") {
  CHECK(sets_refusal(R"({"version":"1.0","header":"x.h"},{"version":"1.1","header":"x.h"})") == "accepted");
  CHECK_THAT(sets_refusal(R"({"version":"1.0","header":"x.h"},{"version":"1-0","header":"y.h"})"),
             has_text("bindgen.json: error: the sets 1.0 and 1-0 would be generated into one"));
  CHECK_THAT(
      sets_refusal(R"({"version":"1.0","header":"x.h"},{"version":"1.1","stands_for":["1.0","1.1"],"header":"y.h"})"),
      has_text("1.0 is claimed by the sets 1.0 and 1.1"));
}
