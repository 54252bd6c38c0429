// The inputs that the fuzzers of the parsers start from, and mutations of them.
#include "fuzz/corpus.hpp"
#include "fuzz/parser_targets.hpp"
#include "support/catch.hpp"

using namespace rkllm_mcp;

TEST_CASE("every parser takes or refuses its corpus and what it is mutated into, whole or in pieces") {
  constexpr int kRounds = 4000;
  for (const auto& target : test::parser_targets()) {
    const auto inputs = test::corpus_in(std::filesystem::path(PARSER_CORPUS) / target.name);
    INFO(target.name);
    REQUIRE_FALSE(inputs.empty());
    for (const auto& input : inputs) {
      INFO(input.name);
      REQUIRE_NOTHROW(target.take(input.bytes));
    }
    std::mt19937 random(1);
    for (int round = 0; round < kRounds; ++round) {
      const std::string input = test::mutated(inputs[random() % inputs.size()].bytes, random);
      INFO("round " << round);
      REQUIRE_NOTHROW(target.take(input));
    }
  }
}
