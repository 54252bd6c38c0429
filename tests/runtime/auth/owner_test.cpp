#include "auth/owner.hpp"
#include "auth/access_tokens.hpp"
#include "support/catch.hpp"

#include <string>

using namespace rkllm_mcp;

TEST_CASE("a client machine is the host of its address, whatever its port") {
  CHECK(source_of("192.0.2.1:4711") == "192.0.2.1");
  CHECK(source_of("192.0.2.1:1") == source_of("192.0.2.1:65535"));
  CHECK(source_of("192.0.2.1:1") != source_of("192.0.2.2:1"));
  CHECK(source_of("192.0.2.1:1") != source_of("192.0.2.10:1"));
}

TEST_CASE("with IPv6 all addresses of a network are one client, however they are written") {
  const std::string source = source_of("[2001:db8:1:2::3]:4711");
  for (const char* const same :
       {"[2001:db8:1:2::3]:1", "[2001:db8:1:2:ffff:ffff:ffff:ffff]:4711", "[2001:0DB8:0001:0002::]:4711"}) {
    CAPTURE(same);
    CHECK(source_of(same) == source);
  }
  for (const char* const other : {"[2001:db8:1:3::3]:4711", "[2001:db8:2:2::3]:4711", "[::1]:4711", "[::]:1"}) {
    CAPTURE(other);
    CHECK(source_of(other) != source);
  }
  CHECK(source_of("[::1]:1") == source_of("[::2]:1"));
}

TEST_CASE("the interface that an IPv6 address is reached by does not count") {
  CHECK(source_of("[fe80::1%eth0]:4711") == source_of("[fe80::1]:4711"));
  CHECK(source_of("[fe80::1%eth0]:4711") == source_of("[fe80::2%eth1]:4711"));
}

TEST_CASE("IPv4 addresses that come as IPv6 are told apart one by one") {
  CHECK(source_of("[::ffff:192.0.2.1]:4711") == source_of("[::ffff:192.0.2.1]:1"));
  CHECK(source_of("[::ffff:192.0.2.1]:4711") != source_of("[::ffff:192.0.2.2]:4711"));
  CHECK(source_of("[::ffff:192.0.2.1]:4711") != source_of("[::1]:4711"));
}

TEST_CASE("a client of a Unix socket is its user, whatever the process") {
  CHECK(source_of("pid=7,uid=1000") == "uid=1000");
  CHECK(source_of("pid=8,uid=1000") == "uid=1000");
  CHECK(source_of("pid=7,uid=1001") == "uid=1001");
}

TEST_CASE("what is no address stands for itself") {
  CHECK(source_of("").empty());
  CHECK(source_of("stdio") == "stdio");
  CHECK(source_of("[") != source_of("[::1]:1"));
  CHECK(source_of("[no address]:7") == "no address");
  CHECK(source_of("gr\xC3\xBC\xC3\x9F:7") == "gr\xC3\xBC\xC3\x9F");
}

TEST_CASE("who has presented an access token is its holder wherever it calls from, anybody else the source") {
  const Principal laptop{.name = "laptop"};
  CHECK(owner_of(&laptop, "192.0.2.1:1") == owner_of(&laptop, "[2001:db8::1]:2"));
  CHECK(owner_of(&laptop, "192.0.2.1:1") == owner_of("laptop", "pid=7,uid=1000"));
  const Principal phone{.name = "phone"};
  CHECK(owner_of(&phone, "192.0.2.1:1") != owner_of(&laptop, "192.0.2.1:1"));

  const Principal everybody;  // where there are no tokens
  for (const Principal* const unnamed : {static_cast<const Principal*>(nullptr), &everybody}) {
    CHECK(owner_of(unnamed, "192.0.2.1:1") == "192.0.2.1");
    CHECK(owner_of(unnamed, "pid=7,uid=1000") == "uid=1000");
  }
  CHECK(owner_of("", "192.0.2.1:1") == "192.0.2.1");
}

TEST_CASE("a holder whose name is an address does not own what belongs to that address") {
  CHECK(owner_of("192.0.2.1", "192.0.2.2:1") != source_of("192.0.2.1:1"));
  CHECK(owner_of("uid=1000", "192.0.2.2:1") != source_of("pid=7,uid=1000"));
}
