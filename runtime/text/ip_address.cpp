#include "text/ip_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <span>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kMappedPrefix = 12;  // bytes of ::ffff:0:0/96
constexpr unsigned kMappedBits = 8 * kMappedPrefix;

IpAddress::Bytes mapped(std::span<const std::uint8_t, 4> v4) {
  IpAddress::Bytes bytes{};
  bytes[10] = bytes[11] = 0xff;
  std::copy(v4.begin(), v4.end(), bytes.begin() + kMappedPrefix);
  return bytes;
}

bool begins_with(std::span<const std::uint8_t> bytes, std::span<const std::uint8_t> prefix, unsigned bits) {
  const std::size_t whole = bits / 8;
  if (!std::equal(prefix.begin(), prefix.begin() + static_cast<std::ptrdiff_t>(whole), bytes.begin())) return false;
  const unsigned rest = bits % 8;
  if (rest == 0) return true;
  return ((bytes[whole] ^ prefix[whole]) >> (8U - rest)) == 0;
}

struct V4Block {
  std::array<std::uint8_t, 4> prefix;
  unsigned bits;
  std::string_view what;
};

// The registry of special-purpose IPv4 addresses (RFC 6890 and its additions).
constexpr std::array kV4Blocks{
    V4Block{{0, 0, 0, 0}, 8, "an address of this network itself"},
    V4Block{{10, 0, 0, 0}, 8, "a private address"},
    V4Block{{100, 64, 0, 0}, 10, "an address that providers share (CGNAT)"},
    V4Block{{127, 0, 0, 0}, 8, "a loopback address"},
    V4Block{{169, 254, 0, 0}, 16, "a link-local address"},
    V4Block{{172, 16, 0, 0}, 12, "a private address"},
    V4Block{{192, 0, 0, 0}, 24, "an address for protocols"},
    V4Block{{192, 0, 2, 0}, 24, "an address for documentation"},
    V4Block{{192, 88, 99, 0}, 24, "a 6to4 address"},
    V4Block{{192, 168, 0, 0}, 16, "a private address"},
    V4Block{{198, 18, 0, 0}, 15, "an address for benchmarks"},
    V4Block{{198, 51, 100, 0}, 24, "an address for documentation"},
    V4Block{{203, 0, 113, 0}, 24, "an address for documentation"},
    V4Block{{224, 0, 0, 0}, 4, "a multicast address"},
    V4Block{{255, 255, 255, 255}, 32, "the broadcast address"},
    V4Block{{240, 0, 0, 0}, 4, "a reserved address"},
};

std::string_view reason_v4(std::span<const std::uint8_t> bytes) {
  const auto found =
      std::ranges::find_if(kV4Blocks, [&](const V4Block& each) { return begins_with(bytes, each.prefix, each.bits); });
  return found == kV4Blocks.end() ? std::string_view() : found->what;
}

struct V6Block {
  std::array<std::uint8_t, 6> prefix;
  unsigned bits;
  std::string_view what;
};

constexpr std::array kV6Blocks{
    V6Block{{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48, "a NAT64 address of a private translator"},
    V6Block{{0xfc}, 7, "a private address"},
    V6Block{{0xfe, 0x80}, 10, "a link-local address"},
    V6Block{{0xfe, 0xc0}, 10, "a private address"},
    V6Block{{0xff}, 8, "a multicast address"},
    V6Block{{0x20, 0x01, 0x00, 0x00}, 32, "a Teredo address"},
    V6Block{{0x20, 0x01, 0x00}, 23, "an address for protocols"},
    V6Block{{0x20, 0x01, 0x0d, 0xb8}, 32, "an address for documentation"},
    V6Block{{0x20, 0x02}, 16, "a 6to4 address"},
    V6Block{{0x3f, 0xff, 0x00}, 20, "an address for documentation"},
};

std::string_view reason_v6(std::span<const std::uint8_t, 16> bytes) {
  constexpr std::array<std::uint8_t, kMappedPrefix> kNat64{0x00, 0x64, 0xff, 0x9b};
  if (begins_with(bytes, kNat64, kMappedBits)) return reason_v4(bytes.subspan<12>());
  if (std::all_of(bytes.begin(), bytes.begin() + kMappedPrefix, [](std::uint8_t byte) { return byte == 0; })) {
    const bool is_one = bytes[12] == 0 && bytes[13] == 0 && bytes[14] == 0 && bytes[15] == 1;
    return is_one ? "a loopback address" : "an address of this network itself";
  }
  for (const V6Block& block : kV6Blocks) {
    if (begins_with(bytes, block.prefix, block.bits)) return block.what;
  }
  constexpr std::array<std::uint8_t, 1> kGlobal{0x20};
  if (!begins_with(bytes, kGlobal, 3)) return "a reserved address";
  // ISATAP carries an IPv4 address of the site in its second half.
  const bool is_isatap = (bytes[8] & 0xfdU) == 0 && bytes[9] == 0 && bytes[10] == 0x5e && bytes[11] == 0xfe;
  return is_isatap ? reason_v4(bytes.subspan<12>()) : std::string_view();
}

}  // namespace

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  const std::string terminated(text);
  if (terminated.size() != std::strlen(terminated.c_str())) return std::nullopt;
  std::array<std::uint8_t, 4> v4{};
  if (inet_pton(AF_INET, terminated.c_str(), v4.data()) == 1) return IpAddress(mapped(v4));
  Bytes v6{};
  if (inet_pton(AF_INET6, terminated.c_str(), v6.data()) == 1) return IpAddress(v6);
  return std::nullopt;
}

std::optional<IpAddress> IpAddress::of(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address, sizeof v4);
    std::array<std::uint8_t, 4> bytes{};
    std::memcpy(bytes.data(), &v4.sin_addr, bytes.size());
    return IpAddress(mapped(bytes));
  }
  if (address.sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6{};
  std::memcpy(&v6, &address, sizeof v6);
  Bytes bytes{};
  std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
  return IpAddress(bytes);
}

bool IpAddress::is_v4() const {
  constexpr std::array<std::uint8_t, kMappedPrefix> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return begins_with(bytes_, kMapped, kMappedBits);
}

std::string IpAddress::text() const {
  std::array<char, INET6_ADDRSTRLEN> buffer{};
  const std::uint8_t* const at = bytes_.data() + (is_v4() ? kMappedPrefix : 0);
  inet_ntop(is_v4() ? AF_INET : AF_INET6, at, buffer.data(), static_cast<socklen_t>(buffer.size()));
  return buffer.data();
}

std::string_view reason_not_public(const IpAddress& address) {
  const std::span<const std::uint8_t, 16> bytes(address.bytes());
  return address.is_v4() ? reason_v4(bytes.subspan<12>()) : reason_v6(bytes);
}

bool is_loopback(std::string_view text) {
  constexpr std::uint8_t kLoopbackNet = 127;
  const auto address = IpAddress::parse(text);
  if (!address) return false;
  return address->is_v4() ? address->bytes()[kMappedPrefix] == kLoopbackNet : address->text() == "::1";
}

bool is_any_address(std::string_view text) { return text == "0.0.0.0" || text == "::"; }

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

std::optional<IpNetwork> IpNetwork::parse(std::string_view text) {
  const auto slash = text.find('/');
  const auto address = IpAddress::parse(text.substr(0, slash));
  if (!address) return std::nullopt;
  constexpr unsigned kAll = 128;
  if (slash == std::string_view::npos) return IpNetwork(*address, kAll);
  const std::string_view digits = text.substr(slash + 1);
  const bool is_v4 = text.find(':') == std::string_view::npos;
  unsigned bits = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  if (error != std::errc() || end != digits.data() + digits.size() || bits > (is_v4 ? 32U : kAll)) return std::nullopt;
  return IpNetwork(*address, is_v4 ? bits + kMappedBits : bits);
}

bool IpNetwork::contains(const IpAddress& address) const {
  return begins_with(address.bytes(), address_.bytes(), bits_);
}

}  // namespace rkllm_mcp
