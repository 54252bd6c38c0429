// Checks where bit-fields lie. A static_assert cannot check that, since offsetof() takes no bit-fields: so, when a
// library is bound, the bits are set and looked at.
#pragma once

#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// Throws std::logic_error unless `fill` sets exactly these bits in a T of zeros: `width` bits from bit `first` on,
// counted as little-endian machines lay bits out. `name` is that of the field, for the complaint.
template <class T, class Fill>
void require_bits(std::string_view name, std::size_t first, std::size_t width, const Fill& fill) {
  T value;
  std::memset(&value, 0, sizeof value);
  fill(value);
  unsigned char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  for (std::size_t bit = 0; bit < 8 * sizeof value; ++bit) {
    const bool is_set = (bytes[bit / 8] >> (bit % 8) & 1) != 0;
    const bool is_meant = bit >= first && bit < first + width;
    if (is_set != is_meant)
      throw std::logic_error("the bits of " + std::string(name) + " lie elsewhere on this machine");
  }
}

}  // namespace rkllm_mcp
