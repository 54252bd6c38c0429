// What the tool asks about a header that it has not seen before, and what it says when the overlay speaks of things
// that the header does not have any more.
#include "next_version.hpp"
#include "support/catch.hpp"
#include "temporary.hpp"

#include "diagnostics.hpp"
#include "generate.hpp"
#include "meaning/understand.hpp"
#include "read/header.hpp"

#include <stdexcept>
#include <string>
#include <vector>

using namespace bindgen;
using rkllm_mcp::test::has_text;

namespace {

using Names = std::vector<std::string>;

const std::string kNextHeader = std::string(ROOT) + "/generator/headers/rkllm_1.4.0.h";
const std::string kAnswered = std::string(ROOT) + "/generator/overlay/rkllm.overlay.json";

Needs needs_with(const std::string& overlay) {
  return needs_of(read_header(kNextHeader), at_version(read_overlay(overlay), "1.4.0"));
}

Names unanswered(const std::string& overlay) {
  Names names;
  const Needs needs = needs_with(overlay);
  for (const Declared& declared : needs.unanswered) names.push_back(declared.path);
  return names;
}

// What generating from the 1.3.0 header says after this change of it.
std::string refusal_after(const std::string& from, const std::string& to) {
  std::string text = read_text(test::kHeader);
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  const auto folder = test::scratch("changed");
  try {
    generate({{test::file(folder, "x.h", text), "1.4.0"}}, test::kOverlay);
  } catch (const Refusal& refused) {
    return refused.what();
  }
  return "accepted";
}

unsigned line_of(const std::string& path, const std::string& part) {
  const auto lines = lines_of(read_text(path));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find(part) != std::string::npos) return static_cast<unsigned>(i + 1);
  }
  throw std::runtime_error("no line of " + path + " has " + part);
}

}  // namespace

TEST_CASE("of a new version the tool asks for exactly what C leaves open") {
  CHECK(unanswered(test::kOverlay) ==
        Names{"RKLLMInferParam.draft.model_path", "RKLLMSteering.name", "RKLLMSteering.direction",
              "rkllm_set_steering.steering", "RKLLMSpeech.text", "RKLLMSpeech.sound.samples", "rkllm_speak.text",
              "rkllm_speak.callback", "rkllm_speak.userdata", "rkllm_get_prompt_lengths.lengths"});
  CHECK(unanswered(kAnswered) == Names{});
}

TEST_CASE("of a new version the tool tells exactly which entries are about something that is gone") {
  const auto in_the_way = needs_with(test::kOverlay).in_the_way;
  REQUIRE(in_the_way.size() == 3);
  CHECK_THAT(in_the_way[0].message, has_text("this entry is for RKLLMParam.max_context_len"));
  CHECK_THAT(in_the_way[1].message, has_text("this entry is for RKLLMParam.skip_special_token"));
  CHECK_THAT(in_the_way[2].message, has_text("this entry is for rkllm_release_prompt_cache"));
  CHECK(needs_with(kAnswered).in_the_way.empty());
}

TEST_CASE("each question comes with the line of the header and the entry to write") {
  try {
    generate({{kNextHeader, "1.4.0"}}, test::kOverlay);
    FAIL("nothing was asked");
  } catch (const Refusal& refused) {
    CHECK(refused.diagnostics().size() == 13);
    const std::string line = std::to_string(line_of(kNextHeader, "const float* direction"));
    CHECK_THAT(refused.what(), has_text(kNextHeader + ":" + line + ":"));
    CHECK_THAT(refused.what(), has_text("nothing says what RKLLMSteering.direction means"));
    CHECK_THAT(refused.what(),
               has_text(R"({"for":"RKLLMSteering.direction","quote":"const float* direction","guess":{"array")"));
  }
}

TEST_CASE("a member that is gone is told with its overlay entry, the struct in the header, and what to do") {
  const std::string said = refusal_after("  int32_t n_keep;\n", "");
  const std::string entry = std::to_string(line_of(test::kOverlay, "\"for\": \"RKLLMParam.n_keep\""));
  CHECK_THAT(said, has_text("rkllm.overlay.json:" + entry + ":"));
  CHECK_THAT(said, has_text("this entry is for RKLLMParam.n_keep, which the header does not declare"));
  CHECK_THAT(said, has_text("x.h:" + std::to_string(line_of(test::kHeader, "The parameters of a model, set once") + 1) +
                            " declares RKLLMParam"));
  CHECK_THAT(said, has_text("\"until\""));
}

TEST_CASE("a function that has another name now leaves its entries and its parameters' entries behind") {
  const std::string said = refusal_after("int rkllm_load_lora(", "int rkllm_add_lora(");
  CHECK_THAT(said, has_text("this entry is for rkllm_load_lora, which the header does not declare"));
  CHECK_THAT(said, has_text("this entry is for rkllm_load_lora.lora_adapter, which the header does not declare"));
  CHECK_THAT(said, has_text("nothing says what rkllm_add_lora.lora_adapter means"));
}

TEST_CASE("a declaration that reads otherwise now is shown as it was and as it is") {
  const std::string said = refusal_after("  float top_p;", "  double top_p;");
  CHECK_THAT(said, has_text("x.h:" + std::to_string(line_of(test::kHeader, "float top_p;"))));
  CHECK_THAT(said, has_text("RKLLMParam.top_p is not what its overlay entry was written for"));
  CHECK_THAT(said, has_text("quotes: float top_p"));
  CHECK_THAT(said, has_text("the header says now:  double top_p"));
}

TEST_CASE("a change whose place is not in the header any more is refused, not left out") {
  CHECK(test::with_changes("int a;\nint b;\n", "An int.\n@ after int a;\nint c;\n\nMore.\n@ after int b;\nint d;\n") ==
        "int a;\nint c;\n\n\nint b;\nint d;\n\n");
  CHECK(
      test::with_changes("int a;\nint b;\n", "Gone.\n@ instead of int a;\n\nRenamed.\n@ instead of int b;\nint c;\n") ==
      "\n\nint c;\n\n");
  CHECK_THROWS_AS(test::with_changes("int a;\n", "@ after int b;\nint c;\n"), std::runtime_error);
  CHECK_THROWS_AS(test::with_changes("int a;\nint a;\n", "@ after int a;\nint c;\n"), std::runtime_error);
}
