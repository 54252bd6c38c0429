// The inputs that fuzzers start from, and what a mutation makes of one where there is no fuzzer.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace rkllm_mcp::test {

struct CorpusFile {
  std::string name;
  std::string bytes;
};

// In the order of their names, so that what is made of them comes again.
inline std::vector<CorpusFile> corpus_in(const std::filesystem::path& folder) {
  std::vector<CorpusFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    files.push_back({entry.path().filename(), {std::istreambuf_iterator<char>(file), {}}});
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return files;
}

// Changes, drops, doubles or inserts a few bytes.
inline std::string mutated(std::string input, std::mt19937& random) {
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

}  // namespace rkllm_mcp::test
