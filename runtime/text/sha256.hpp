// SHA-256, by OpenSSL.
#pragma once

#include <array>
#include <string_view>

namespace rkllm_mcp {

using Sha256 = std::array<unsigned char, 32>;

Sha256 sha256(std::string_view bytes);

}  // namespace rkllm_mcp
