// What libFuzzer calls: one JSON text into one codec. Whatever ends otherwise than the contract allows is an exception
// that nobody catches.
#include "fuzz/codec_input.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = rkllm_mcp::test::read_codec_input({reinterpret_cast<const char*>(data), size});
  if (input) input->codec.takes(input->json, input->circumstances);
  return 0;
}
