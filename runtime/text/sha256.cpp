#include "text/sha256.hpp"

#include <openssl/evp.h>

namespace rkllm_mcp {

Sha256 sha256(std::string_view bytes) {
  Sha256 digest{};
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  return digest;
}

}  // namespace rkllm_mcp
