// The inputs that the fuzzers of the parsers start from, and mutations of them.
#include "fuzz/parser_targets.hpp"
#include "support/catch.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

using namespace rkllm_mcp;

namespace {

std::vector<std::string> inputs_of(std::string_view target) {
  std::vector<std::string> inputs;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(PARSER_CORPUS) / target)) {
    std::ifstream file(entry.path(), std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

// Changes, drops, doubles or inserts a few bytes.
std::string mutated(std::string input, std::mt19937& random) {
  for (auto changes = 1 + random() % 4; changes > 0; --changes) {
    const auto at = input.empty() ? 0 : random() % input.size();
    const auto byte = static_cast<char>(random() % 256);
    switch (random() % 4) {
      case 0: input.insert(at, 1, byte); break;
      case 1: input.erase(at, random() % 8); break;
      case 2: input.insert(at, input.substr(at, random() % 16)); break;
      default:
        if (!input.empty()) input[at] = byte;
    }
  }
  return input;
}

}  // namespace

TEST_CASE("every parser takes or refuses its corpus and what it is mutated into, whole or in pieces") {
  constexpr int kRounds = 4000;
  for (const auto& target : test::parser_targets()) {
    const auto inputs = inputs_of(target.name);
    INFO(target.name);
    REQUIRE_FALSE(inputs.empty());
    for (const std::string& input : inputs) REQUIRE_NOTHROW(target.take(input));
    std::mt19937 random(1);
    for (int round = 0; round < kRounds; ++round) {
      const std::string input = mutated(inputs[random() % inputs.size()], random);
      INFO("round " << round);
      REQUIRE_NOTHROW(target.take(input));
    }
  }
}
