#include "chat/host/ids.hpp"

#include <random>

namespace rkllm_mcp::chat {

std::string new_id(std::string_view prefix) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr int kNumbers = 3;
  constexpr int kDigitsOfNumber = 8;
  std::random_device random;
  std::string id(prefix);
  for (int i = 0; i < kNumbers; ++i) {
    auto number = random();
    for (int digit = 0; digit < kDigitsOfNumber; ++digit, number >>= 4U) id.push_back(kDigits[number & 15U]);
  }
  return id;
}

}  // namespace rkllm_mcp::chat
