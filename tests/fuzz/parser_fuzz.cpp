// What libFuzzer calls. Which parser takes the input is chosen when this is compiled.
#include "fuzz/parser_targets.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const auto& target : rkllm_mcp::test::parser_targets()) {
    if (target.name != PARSER_TARGET) continue;
    target.take({reinterpret_cast<const char*>(data), size});
    return 0;
  }
  throw std::logic_error("no parser is called " PARSER_TARGET);
}
