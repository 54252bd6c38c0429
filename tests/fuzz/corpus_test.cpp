// The inputs that the fuzzer starts from, and those with which it has found something, through its own entry.
#include "fuzz/corpus.hpp"
#include "fuzz/codec_input.hpp"
#include "support/catch.hpp"

#include <cstdint>
#include <set>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

using namespace rkllm_mcp;

namespace {

std::vector<test::CorpusFile> corpus() { return test::corpus_in(CODEC_CORPUS); }

}  // namespace

TEST_CASE("every input of the corpus is taken or refused") {
  const auto files = corpus();
  CHECK_FALSE(files.empty());
  for (const test::CorpusFile& file : files) {
    INFO(file.name);
    CHECK_NOTHROW(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(file.bytes.data()), file.bytes.size()));
  }
}

TEST_CASE("an input chooses what its name says") {
  for (const test::CorpusFile& file : corpus()) {
    INFO(file.name);
    const auto input = test::read_codec_input(file.bytes);
    REQUIRE(input.has_value());
    CHECK(file.name.rfind(std::string(input->set.version) + "_" + input->codec.name, 0) == 0);
  }
}

TEST_CASE("the corpus has an input that is taken, for every codec of the newest version") {
  const test::SetOfCodecs& newest = test::every_codec().back();
  std::set<std::string> taken;
  for (const test::CorpusFile& file : corpus()) {
    const auto input = test::read_codec_input(file.bytes);
    if (&input->set == &newest && input->codec.takes(input->json, input->circumstances))
      taken.insert(input->codec.name);
  }
  std::set<std::string> known;
  for (const test::Codec& codec : newest.methods) known.insert(codec.name);
  for (const test::Codec& codec : newest.structs) known.insert(codec.name);
  CHECK(taken == known);
}
