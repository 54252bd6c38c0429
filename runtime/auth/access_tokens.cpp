#include "auth/access_tokens.hpp"

#include "text/regular_file.hpp"

#include <arpa/inet.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <array>
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

// "192.0.2.1:4711" -> "192.0.2.1"; "[2001:db8:1:2::3]:4711" -> the network's eight bytes; "pid=7,uid=1000" ->
// "uid=1000".
std::string source_of(std::string_view address) {
  if (const auto user = address.find("uid="); user != std::string_view::npos) return std::string(address.substr(user));
  std::string host(address.substr(0, address.rfind(':')));
  if (host.empty() || host.front() != '[') return host;
  host = host.substr(1, host.find_first_of("]%") - 1);
  std::array<unsigned char, 16> bytes{};
  constexpr std::size_t kNetworkBytes = 8;
  if (::inet_pton(AF_INET6, host.c_str(), bytes.data()) != 1) return host;
  const bool is_v4 = host.find('.') != std::string::npos;  // ::ffff:192.0.2.1
  return {bytes.begin(), is_v4 ? bytes.end() : bytes.begin() + kNetworkBytes};
}

std::string owner_of(const Principal* principal, std::string_view address) {
  return owner_of(principal == nullptr ? std::string_view() : principal->name, address);
}

std::string owner_of(std::string_view name, std::string_view address) {
  return name.empty() ? source_of(address) : "token " + std::string(name);
}

}  // namespace rkllm_mcp
