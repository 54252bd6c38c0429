// An IP address as a value, and from where it can be reached: from the public internet, or from this machine only.
// Whoever fetches what strangers name connects to public addresses only: strangers could otherwise reach what only this
// machine may reach (server-side request forgery). Whoever listens without asking for an access token does so on
// loopback addresses only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

struct sockaddr;

namespace rkllm_mcp {

class IpAddress {
 public:
  using Bytes = std::array<std::uint8_t, 16>;

  // As inet_pton() takes it: "192.0.2.1", "2001:db8::1"; no zone, no port. Nothing if it is no address.
  static std::optional<IpAddress> parse(std::string_view text);
  // The address in a socket address of AF_INET or AF_INET6; nothing for other families.
  static std::optional<IpAddress> of(const sockaddr& address);

  // An IPv4 address, also one that is written as an IPv6 address (::ffff:192.0.2.1): both are the same value.
  bool is_v4() const;
  std::string text() const;  // as getaddrinfo() takes it; of IPv4 in dots
  const Bytes& bytes() const { return bytes_; }
  friend bool operator==(const IpAddress&, const IpAddress&) = default;

 private:
  explicit IpAddress(const Bytes& bytes) : bytes_(bytes) {}

  Bytes bytes_;  // as an IPv6 address, in network order
};

// Why the address is none of the public internet, in words that follow "is": "a loopback address". Empty if it is one.
// Addresses of NAT64 (64:ff9b::/96) and ISATAP are judged by the IPv4 address in them.
std::string_view reason_not_public(const IpAddress& address);

// Whether `text` is an address that this machine alone can reach: of 127.0.0.0/8, or ::1. False for what is no IP
// address.
bool is_loopback(std::string_view text);

// Whether `text` stands for all addresses of this machine: 0.0.0.0 or ::.
bool is_any_address(std::string_view text);

// The client machine in an address, without its port: the host; of IPv6 the /64 network, since one machine may use any
// address of it; of a Unix socket the user.
std::string source_of(std::string_view address);

// Addresses with the same beginning: "192.168.0.0/16", "fd00::/8", or one address alone.
class IpNetwork {
 public:
  static std::optional<IpNetwork> parse(std::string_view text);
  bool contains(const IpAddress& address) const;

 private:
  IpNetwork(const IpAddress& address, unsigned bits) : address_(address), bits_(bits) {}

  IpAddress address_;
  unsigned bits_;  // of the address as an IPv6 address
};

}  // namespace rkllm_mcp
