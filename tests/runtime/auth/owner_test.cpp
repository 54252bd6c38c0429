#include "auth/owner.hpp"

#include "support/catch.hpp"

#include <string>

using namespace rkllm_mcp;

TEST_CASE("a client machine is its host, whatever its port") {
  CHECK(source_of("192.0.2.1:4711") == "192.0.2.1");
  CHECK(source_of("192.0.2.1:4712") == source_of("192.0.2.1:4711"));
  CHECK(source_of("192.0.2.2:4711") != source_of("192.0.2.1:4711"));
}

TEST_CASE("with IPv6 a client is its network of 64 bits, since it has all addresses of that") {
  CHECK(source_of("[2001:db8:1:2::3]:4711") == source_of("[2001:db8:1:2:ffff::9]:80"));
  CHECK(source_of("[2001:db8:1:2::3]:4711") != source_of("[2001:db8:1:3::3]:4711"));
  CHECK(source_of("[fe80::1%eth0]:4711") == source_of("[fe80::2%eth0]:4711"));
}

TEST_CASE("an IPv4 address inside of IPv6 is that machine's, and not a network of all of them") {
  CHECK(source_of("[::ffff:192.0.2.1]:1") == source_of("[::ffff:192.0.2.1]:2"));
  CHECK(source_of("[::ffff:192.0.2.1]:1") != source_of("[::ffff:192.0.2.2]:1"));
}

TEST_CASE("with a Unix socket a client is its user, whatever its process") {
  CHECK(source_of("pid=7,uid=1000") == "uid=1000");
  CHECK(source_of("pid=8,uid=1000") == source_of("pid=7,uid=1000"));
  CHECK(source_of("pid=7,uid=1001") != source_of("pid=7,uid=1000"));
}

TEST_CASE("an address that is none stands for itself") {
  CHECK(source_of("").empty());
  CHECK(source_of("here") == "here");
  CHECK(source_of("[no address]:7") == source_of("[no address]:8"));
}

TEST_CASE("who presents an access token is its holder, wherever they call from, and nobody can take such a name") {
  Principal ada;
  ada.name = "192.0.2.1";
  CHECK(owner_of(&ada, "192.0.2.9:1") == owner_of(&ada, "198.51.100.7:2"));
  CHECK(owner_of(&ada, "192.0.2.9:1") == owner_of(ada.name, "192.0.2.9:1"));
  CHECK(owner_of(&ada, "192.0.2.9:1") != source_of("192.0.2.1:1"));
  CHECK(owner_of(nullptr, "192.0.2.9:1") == "192.0.2.9");
  CHECK(owner_of("", "192.0.2.9:1") == "192.0.2.9");
}
