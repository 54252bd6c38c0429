// An input of the codec fuzzer: three bytes that choose, then a JSON text.
//
//   1st  the ABI set; '0' is the oldest
//   2nd  the codec; 'a' is the first method of the set, 'A' the first struct
//   3rd  the circumstances; '0' plus the sum of 1 (embd_size is not known), 2 (vocab_size is not known), 4 (a batch),
//        8 (the call fails), 16 (arrays are written as base64)
//
// Every other byte chooses something as well, so that no mutation is lost.
#pragma once

#include "fuzz/every_codec.hpp"

#include <optional>
#include <string_view>

namespace rkllm_mcp::test {

struct CodecInput {
  const SetOfCodecs& set;
  const Codec& codec;
  Circumstances circumstances;
  Json json;
};

// Nothing if the bytes are too few, or the rest is no JSON, which no codec ever sees.
std::optional<CodecInput> read_codec_input(std::string_view bytes);

}  // namespace rkllm_mcp::test
