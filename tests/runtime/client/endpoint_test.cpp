#include "client/endpoint.hpp"

#include "support/catch.hpp"

#include <stdexcept>

using namespace rkllm_mcp::client;

TEST_CASE("a URL names protocol, host, port and path") {
  const Endpoint tcp = parse_endpoint("tcp://127.0.0.1:8081");
  CHECK(tcp.protocol == Protocol::kTcp);
  CHECK(tcp.host == "127.0.0.1");
  CHECK(tcp.port == 8081);
  CHECK(tcp.path.empty());
  CHECK(parse_endpoint("udp://board:1").protocol == Protocol::kUdp);
  CHECK(parse_endpoint("http://board:80").path == "/jsonrpc");
  CHECK(parse_endpoint("http://board:80/").path == "/jsonrpc");
  CHECK(parse_endpoint("http://board:80/x/y?z").path == "/x/y?z");
  CHECK(parse_endpoint("ws://board:80").path == "/");
  CHECK(parse_endpoint("ws://board:80/ws").path == "/ws");
}

TEST_CASE("a URL of http may leave out the port, and gets the path that the caller wants") {
  const Endpoint endpoint = parse_endpoint("https://board", "/mcp");
  CHECK(endpoint.protocol == Protocol::kHttps);
  CHECK(endpoint.port == 443);
  CHECK(endpoint.path == "/mcp");
  CHECK(parse_endpoint("http://board/x").port == 80);
  CHECK(parse_endpoint("http://[fe80::1]", "/mcp").host == "fe80::1");
}

TEST_CASE("an endpoint gives its URL back") {
  for (const char* url : {"tcp://h:1", "unix:///run/socket", "udp://[::1]:2", "http://h:80/mcp", "https://h:443/x?y",
                          "ws://h:3", "ws://h:3/ws", "tcps://h:4", "wss://h:5/ws"}) {
    CHECK(parse_endpoint(url).url() == url);
  }
}

TEST_CASE("an IPv6 address stands in brackets") {
  const Endpoint endpoint = parse_endpoint("http://[::1]:8080/mcp");
  CHECK(endpoint.host == "::1");
  CHECK(endpoint.port == 8080);
  CHECK(endpoint.authority() == "[::1]:8080");
  CHECK(parse_endpoint("tcp://h:1").authority() == "h:1");
}

TEST_CASE("what is no URL of a server is refused with what one looks like") {
  for (const char* url :
       {"", "127.0.0.1:80", "tls://h:1", "tcp://", "tcp://h", "tcp://:1", "tcp://h:", "tcp://h:0", "tcp://h:65536",
        "tcp://h:x", "tcp://h:1/path", "tcp://[::1]", "http://h:1/a b", "ws://h:1/\r\nX: y"}) {
    INFO(url);
    CHECK_THROWS_WITH(parse_endpoint(url), rkllm_mcp::test::has_text("expected tcp://HOST:PORT"));
  }
}
