#include "client/sockets/ws_connection.hpp"

#include "client/connection.hpp"
#include "support/catch.hpp"

using namespace rkllm_mcp::client;

namespace {

// The example of RFC 6455, section 1.3.
constexpr std::string_view kKey = "dGhlIHNhbXBsZSBub25jZQ==";
constexpr std::string_view kAccepted =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "sec-websocket-accept:  s3pPLMBiTxaQ9kYGzzhZRbK+xOo= ";

}  // namespace

TEST_CASE("the handshake of the standard's example is accepted") {
  CHECK_NOTHROW(check_upgrade_response(kAccepted, kKey));
}

TEST_CASE("an answer that does not prove the key, or is no upgrade, is refused") {
  CHECK_THROWS_AS(check_upgrade_response(kAccepted, "AAAAAAAAAAAAAAAAAAAAAA=="), ConnectionError);
  CHECK_THROWS_AS(check_upgrade_response("HTTP/1.1 101 Switching Protocols", kKey), ConnectionError);
  CHECK_THROWS_WITH(check_upgrade_response("HTTP/1.1 404 Not Found\r\nX: y", kKey),
                    "no WebSocket there: HTTP/1.1 404 Not Found");
}

TEST_CASE("a server that wants another access token is told from one that has no WebSocket") {
  CHECK_THROWS_AS(check_upgrade_response("HTTP/1.1 401 Unauthorized\r\nX: y", kKey), TokenRefused);
}

TEST_CASE("every key is another 16 bytes in base64") {
  const std::string key = new_websocket_key();
  CHECK(key.size() == 24);
  CHECK(key.ends_with("=="));
  CHECK(key != new_websocket_key());
}

TEST_CASE("the request names host, path and key") {
  const std::string request = upgrade_request(parse_endpoint("ws://[::1]:8083/ws"), kKey);
  CHECK(request.starts_with("GET /ws HTTP/1.1\r\nHost: [::1]:8083\r\n"));
  CHECK(request.find("\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n") != std::string::npos);
  CHECK(request.ends_with("\r\n\r\n"));
}
