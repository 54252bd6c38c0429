#include "text/sha256.hpp"

#include <openssl/evp.h>

#include <stdexcept>

namespace rkllm_mcp {

Sha256 sha256(std::string_view bytes) {
  Sha256 digest{};
  // Zeros in its place would make every token equal to every other.
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL computes no SHA-256");
  }
  return digest;
}

}  // namespace rkllm_mcp
