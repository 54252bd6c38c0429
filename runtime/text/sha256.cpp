#include "text/sha256.hpp"

#include <openssl/evp.h>

#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace rkllm_mcp {

namespace {

// Zeros in place of a sum would make every token equal to every other.
void require(bool computed) {
  if (!computed) throw std::runtime_error("OpenSSL computes no SHA-256");
}

EVP_MD_CTX* context_of(void* context) { return static_cast<EVP_MD_CTX*>(context); }

}  // namespace

Sha256 sha256(std::string_view bytes) {
  Sha256 digest{};
  require(EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr) == 1);
  return digest;
}

Sha256Sum::Sha256Sum() : context_(EVP_MD_CTX_new()) {
  require(context_ && EVP_DigestInit_ex(context_of(context_.get()), EVP_sha256(), nullptr) == 1);
}

void Sha256Sum::add(std::string_view bytes) {
  require(EVP_DigestUpdate(context_of(context_.get()), bytes.data(), bytes.size()) == 1);
}

Sha256 Sha256Sum::finish() {
  Sha256 digest{};
  require(EVP_DigestFinal_ex(context_of(context_.get()), digest.data(), nullptr) == 1);
  return digest;
}

void Sha256Sum::Free::operator()(void* context) const { EVP_MD_CTX_free(context_of(context)); }

std::optional<Sha256> sha256_of_file(const std::string& path, const std::function<bool()>& goes_on) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> piece(std::size_t{1} << 20U);
  Sha256Sum sum;
  while (file) {
    if (!goes_on()) return std::nullopt;
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    sum.add({piece.data(), static_cast<std::size_t>(file.gcount())});
  }
  if (!file.eof()) return std::nullopt;
  return sum.finish();
}

}  // namespace rkllm_mcp
