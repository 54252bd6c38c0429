// Random JSON into every codec of every ABI set: it is taken, or refused as the contract allows, nothing else.
#include "fuzz/random_json.hpp"
#include "fuzz/every_codec.hpp"
#include "support/catch.hpp"

#include <fstream>

using namespace rkllm_mcp;
using rkllm_mcp::test::Circumstances;
using rkllm_mcp::test::Codec;
using rkllm_mcp::test::RandomJson;
using rkllm_mcp::test::SetOfCodecs;

namespace {

// For each codec of each version. Fewer do for structs, whose documents are made from samples.
constexpr int kDocumentsOfMethod = 500;
constexpr int kDocumentsOfStruct = 150;

Circumstances any_circumstances(RandomJson& random) {
  return {.embd_size_is_known = !random.one_in(3),
          .vocab_size_is_known = !random.one_in(3),
          .has_batch = random.one_in(4),
          .call_fails = random.one_in(20),
          .encoding = random.one_in(2) ? ArrayEncoding::kBase64 : ArrayEncoding::kJson};
}

template <class Make>
void check_documents(RandomJson& random, const Codec& codec, const Make& make) {
  const int documents = codec.method != nullptr ? kDocumentsOfMethod : kDocumentsOfStruct;
  int taken = 0;
  for (int i = 0; i < documents; ++i) {
    const Json json = random.one_in(20) ? random.anything(4) : make();
    try {
      if (codec.takes(json, any_circumstances(random))) ++taken;
    } catch (const std::exception& error) {
      FAIL_CHECK(error.what() << "\nof " << json.dump().substr(0, 1000));
    }
  }
  CHECK(taken > 0);  // else the generator of documents has gone blind
}

}  // namespace

TEST_CASE("whatever is sent, every method of every version answers or refuses") {
  RandomJson random;
  for (const SetOfCodecs& set : test::every_codec()) {
    for (const Codec& codec : set.methods) {
      INFO(set.version << " " << codec.name);
      const Json schema = Json::parse(codec.method->input_schema);
      check_documents(random, codec, [&] { return random.like(schema); });
    }
  }
}

TEST_CASE("whatever is read into a struct of any version is taken or refused") {
  std::ifstream file(STRUCT_SAMPLES);
  const Json samples = Json::parse(file);
  RandomJson random;
  for (const SetOfCodecs& set : test::every_codec()) {
    for (const Codec& codec : set.structs) {
      INFO(set.version << " " << codec.name);
      check_documents(random, codec, [&] { return random.near(random.pick(samples.at(codec.name)).at("value")); });
    }
  }
}
