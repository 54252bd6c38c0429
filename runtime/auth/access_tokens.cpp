#include "auth/access_tokens.hpp"

#include "text/regular_file.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace rkllm_mcp {
namespace {

constexpr std::string_view kHashed = "sha256:";
constexpr std::size_t kShortestToken = 16;

Sha256 parse_hash(std::string_view digits) {
  Sha256 hash{};
  if (digits.size() != 2 * hash.size()) throw std::runtime_error("sha256: must be followed by 64 hexadecimal digits");
  for (std::size_t at = 0; at < hash.size(); ++at) {
    const std::string_view byte = digits.substr(2 * at, 2);
    const auto [end, error] = std::from_chars(byte.data(), byte.data() + 2, hash[at], 16);
    if (error != std::errc() || end != byte.data() + 2) {
      throw std::runtime_error("sha256: must be followed by 64 hexadecimal digits");
    }
  }
  return hash;
}

std::string_view take_word(std::string_view& line) {
  constexpr std::string_view kBlanks = " \t\r";
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

Principal parse_permissions(std::string_view name, std::string_view permissions) {
  if (permissions.empty()) return {std::string(name)};
  Principal principal{std::string(name), false, false};
  while (!permissions.empty()) {
    const std::string_view word = permissions.substr(0, permissions.find(','));
    permissions.remove_prefix(std::min(word.size() + 1, permissions.size()));
    if (word != "call" && word != "admin") {
      throw std::runtime_error("unknown permission \"" + std::string(word) + "\"; there are call and admin");
    }
    principal.may_call = true;
    principal.may_admin = principal.may_admin || word == "admin";
  }
  return principal;
}

}  // namespace

AccessTokens AccessTokens::read(const std::string& path) {
  const std::string text = read_private_file(path);
  AccessTokens tokens;
  std::size_t number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    ++number;
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    try {
      tokens.add(line);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(path + ":" + std::to_string(number) + ": " + error.what());
    }
  }
  if (tokens.empty()) throw std::runtime_error(path + ": holds no token");
  return tokens;
}

void AccessTokens::add(std::string_view line) {
  const std::string_view name = take_word(line);
  if (name.empty() || name.front() == '#') return;
  const std::string_view token = take_word(line);
  const std::string_view permissions = take_word(line);
  if (!take_word(line).empty()) throw std::runtime_error("expected a name, a token and perhaps permissions");
  const bool is_hashed = token.substr(0, kHashed.size()) == kHashed;
  if (!is_hashed && token.size() < kShortestToken) {
    throw std::runtime_error("the token must have " + std::to_string(kShortestToken) + " characters or more");
  }
  const Sha256 hash = is_hashed ? parse_hash(token.substr(kHashed.size())) : sha256(token);
  entries_.push_back({hash, parse_permissions(name, permissions)});
}

const Principal* AccessTokens::find(std::string_view token) const {
  const Sha256 presented = sha256(token);
  const Principal* found = nullptr;
  for (const Entry& entry : entries_) {
    if (CRYPTO_memcmp(entry.hash.data(), presented.data(), presented.size()) == 0) found = &entry.principal;
  }
  return found;
}

}  // namespace rkllm_mcp
