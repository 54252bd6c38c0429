// SHA-256, by OpenSSL.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp {

using Sha256 = std::array<unsigned char, 32>;

Sha256 sha256(std::string_view bytes);

// The SHA-256 of bytes that come in pieces. Throws std::runtime_error if OpenSSL cannot.
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

// SHA-256 of a file's contents, which may be gigabytes.
//
// Blocks for as long as the disk does. `goes_on` is asked for every megabyte; nothing if it says no, or if the file
// cannot be read. Threads: any.
std::optional<Sha256> sha256_of_file(const std::string& path, const std::function<bool()>& goes_on);

}  // namespace rkllm_mcp
