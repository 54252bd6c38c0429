// SHA-256, by OpenSSL.
#pragma once

#include <array>
#include <memory>
#include <string_view>

namespace rkllm_mcp {

using Sha256 = std::array<unsigned char, 32>;

Sha256 sha256(std::string_view bytes);

// Of bytes that come in pieces. Throws std::runtime_error if OpenSSL cannot.
class Sha256Sum {
 public:
  Sha256Sum();
  void add(std::string_view bytes);
  // Once, at the end.
  Sha256 finish();

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;  // EVP_MD_CTX
};

}  // namespace rkllm_mcp
