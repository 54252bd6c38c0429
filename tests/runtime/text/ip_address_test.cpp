#include "text/ip_address.hpp"

#include "support/catch.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;

namespace {

IpAddress ip(const std::string& text) {
  const auto address = IpAddress::parse(text);
  INFO(text);
  REQUIRE(address);
  return *address;
}

}  // namespace

TEST_CASE("every kind of address that is not public is told with its reason") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"0.0.0.0", "this network"},
      {"0.1.2.3", "this network"},
      {"10.0.0.1", "private"},
      {"10.255.255.255", "private"},
      {"100.64.0.1", "CGNAT"},
      {"100.127.255.255", "CGNAT"},
      {"127.0.0.1", "loopback"},
      {"127.255.255.254", "loopback"},
      {"169.254.169.254", "link-local"},
      {"172.16.0.1", "private"},
      {"172.31.255.255", "private"},
      {"192.0.0.8", "protocols"},
      {"192.0.2.1", "documentation"},
      {"192.88.99.1", "6to4"},
      {"192.168.1.1", "private"},
      {"198.18.0.1", "benchmarks"},
      {"198.19.255.255", "benchmarks"},
      {"198.51.100.1", "documentation"},
      {"203.0.113.1", "documentation"},
      {"224.0.0.1", "multicast"},
      {"239.255.255.255", "multicast"},
      {"240.0.0.1", "reserved"},
      {"255.255.255.255", "broadcast"},
      {"::", "this network"},
      {"::1", "loopback"},
      {"::127.0.0.1", "this network"},           // IPv4-compatible
      {"::ffff:127.0.0.1", "loopback"},          // mapped
      {"::ffff:10.0.0.1", "private"},            // mapped
      {"::ffff:169.254.169.254", "link-local"},  // mapped
      {"64:ff9b::127.0.0.1", "loopback"},        // NAT64
      {"64:ff9b::a00:1", "private"},             // NAT64 of 10.0.0.1
      {"64:ff9b:1::8.8.8.8", "NAT64"},
      {"100::1", "reserved"},
      {"2001::1", "Teredo"},
      {"2001:10::1", "protocols"},
      {"2001:db8::1", "documentation"},
      {"2002:7f00:1::", "6to4"},
      {"2002:808:808::1", "6to4"},
      {"2a00:1450::5efe:c0a8:101", "private"},  // ISATAP of 192.168.1.1
      {"3fff::1", "documentation"},
      {"4000::1", "reserved"},
      {"fc00::1", "private"},
      {"fd12:3456::1", "private"},
      {"fe80::1", "link-local"},
      {"fec0::1", "private"},
      {"ff02::1", "multicast"},
  };
  for (const auto& [text, reason] : cases) {
    INFO(text);
    CHECK_THAT(std::string(reason_not_public(ip(text))), test::has_text(reason));
  }
}

TEST_CASE("addresses beside the special blocks are public") {
  for (const char* const text : {"1.1.1.1",        "9.255.255.255",        "11.0.0.0",          "100.63.255.255",
                                 "100.128.0.0",    "126.255.255.255",      "128.0.0.1",         "169.253.0.1",
                                 "172.15.255.255", "172.32.0.0",           "192.167.255.255",   "198.17.255.255",
                                 "198.20.0.0",     "223.255.255.255",      "::ffff:8.8.8.8",    "64:ff9b::808:808",
                                 "2001:200::1",    "2001:4860:4860::8888", "2a00:1450:4001::1", "2606:4700::1111"}) {
    INFO(text);
    CHECK(reason_not_public(ip(text)) == "");
  }
}

TEST_CASE("only the usual spellings of an address are addresses") {
  for (const char* const text :
       {"", "127.1", "0x7f.0.0.1", "2130706433", "127.0.0.1 ", "fe80::1%eth0", "[::1]", "1.2.3.4.5"}) {
    INFO(text);
    CHECK_FALSE(IpAddress::parse(text));
  }
  CHECK(ip("::ffff:1.2.3.4") == ip("1.2.3.4"));
  CHECK(ip("::ffff:1.2.3.4").text() == "1.2.3.4");
  CHECK(ip("2001:DB8:0::1").text() == "2001:db8::1");
}

TEST_CASE("a network contains the addresses with its beginning") {
  CHECK(IpNetwork::parse("192.168.0.0/16")->contains(ip("192.168.255.1")));
  CHECK(IpNetwork::parse("192.168.0.0/16")->contains(ip("::ffff:192.168.255.1")));
  CHECK_FALSE(IpNetwork::parse("192.168.0.0/16")->contains(ip("192.169.0.1")));
  CHECK(IpNetwork::parse("10.1.2.3")->contains(ip("10.1.2.3")));
  CHECK_FALSE(IpNetwork::parse("10.1.2.3")->contains(ip("10.1.2.4")));
  CHECK(IpNetwork::parse("fd00::/7")->contains(ip("fc12::1")));
  CHECK(IpNetwork::parse("100.64.0.0/10")->contains(ip("100.127.0.1")));
  CHECK_FALSE(IpNetwork::parse("100.64.0.0/10")->contains(ip("100.128.0.1")));
  for (const char* const text : {"", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "fd00::/129", "10.0.0/8", "host/8"}) {
    INFO(text);
    CHECK_FALSE(IpNetwork::parse(text));
  }
}

TEST_CASE("what this machine alone can reach is loopback, however it is written, and all addresses are not") {
  for (const char* const text : {"127.0.0.1", "127.255.255.254", "::1", "0:0::1", "::ffff:127.0.0.1"}) {
    INFO(text);
    CHECK(is_loopback(text));
  }
  for (const char* const text : {"0.0.0.0", "::", "128.0.0.1", "::ffff:128.0.0.1", "64:ff9b::127.0.0.1", "::2",
                                 "fe80::1", "localhost", "127.1", ""}) {
    INFO(text);
    CHECK_FALSE(is_loopback(text));
  }
}

TEST_CASE("0.0.0.0 and :: stand for all addresses of this machine") {
  CHECK(is_any_address("0.0.0.0"));
  CHECK(is_any_address("::"));
  CHECK_FALSE(is_any_address("127.0.0.1"));
  CHECK_FALSE(is_any_address("::1"));
}
