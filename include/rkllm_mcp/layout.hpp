// What differs between 64-bit and 32-bit builds of the same C interface.
#pragma once

#include <cstddef>

namespace rkllm_mcp {

static_assert(sizeof(void*) == 8 || sizeof(void*) == 4, "the layouts known are those of 64-bit and 32-bit pointers");

// The first where pointers have 64 bits, the second where they have 32.
template <class T>
constexpr T by_pointer_size(T on_64_bit, T on_32_bit) {
  return sizeof(void*) == 8 ? on_64_bit : on_32_bit;
}

}  // namespace rkllm_mcp
