// The overlays that the fuzzer starts from, and mutations of them.
#include "fuzz/corpus.hpp"
#include "fuzz/overlay_mutation.hpp"
#include "fuzz/overlay_target.hpp"
#include "support/catch.hpp"

#include "overlay/overlay.hpp"

#include <set>

using namespace bindgen;

namespace {

std::vector<rkllm_mcp::test::CorpusFile> corpus() { return rkllm_mcp::test::corpus_in(OVERLAY_CORPUS); }

}  // namespace

TEST_CASE("every overlay of the corpus, and what it is mutated into, is used or refused with a place") {
  constexpr int kRounds = 150;
  const auto files = corpus();
  REQUIRE_FALSE(files.empty());
  for (const auto& file : files) {
    INFO(file.name);
    REQUIRE_NOTHROW(test::take_overlay(file.bytes));
  }
  std::mt19937 of_bytes(1);
  std::minstd_rand of_values(1);
  int used = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string& text = files[of_bytes() % files.size()].bytes;
    INFO("round " << round);
    REQUIRE_NOTHROW(test::take_overlay(rkllm_mcp::test::mutated(text, of_bytes)));
    REQUIRE_NOTHROW(used += test::take_overlay(test::mutated_overlay(text, of_values)) ? 1 : 0);
  }
  CHECK(used > 0);  // else the mutations have gone blind
}

TEST_CASE("the corpus has an overlay that is used, with an entry of every kind") {
  std::set<std::string> used;
  for (const auto& file : corpus()) {
    if (!test::take_overlay(file.bytes)) continue;
    for (const OverlayEntry& entry : parse_overlay(file.bytes, file.name).entries) used.insert(entry.says);
  }
  CHECK(used == std::set<std::string>{"", "array", "batch", "callbacks", "cpu_mask", "function", "handle", "object",
                                      "out", "predicate", "stream", "text", "union", "unused", "userdata", "value"});
}
