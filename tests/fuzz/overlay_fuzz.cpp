// What libFuzzer calls: one overlay into the generator. Half of the mutations are of bytes, half of values.
#include "fuzz/overlay_mutation.hpp"
#include "fuzz/overlay_target.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  std::minstd_rand random(seed);
  if (random() % 2 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::string text = bindgen::test::mutated_overlay({reinterpret_cast<const char*>(data), size}, random);
  if (text.empty() || text.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(text.begin(), text.end(), data);
  return text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bindgen::test::take_overlay({reinterpret_cast<const char*>(data), size});
  return 0;
}
