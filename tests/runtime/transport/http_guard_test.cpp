#include "transport/http_guard.hpp"

#include "support/catch.hpp"

#include <string>

using rkllm_mcp::HttpGuard;

namespace {

bool is_http_bytewise(const std::string& text) {
  HttpGuard guard;
  bool result = false;
  for (const char c : text) result = guard.is_http(std::string(1, c));
  return result;
}

}  // namespace

TEST_CASE("a request line is known for HTTP, however it is cut") {
  for (const std::string text :
       {"POST / HTTP/1.1\r\n", "GET /x HTTP/1.0\r\n", "\r\n\r\nOPTIONS * HTTP/1.1\r\n", "PRI * HTTP/2.0"}) {
    CAPTURE(text);
    CHECK(HttpGuard().is_http(text));
    CHECK(is_http_bytewise(text));
  }
}

TEST_CASE("messages and other lines are not HTTP") {
  for (const std::string text :
       {"{\"method\":\"GET \"}\n", "[1]", "\n{\"x\": \"POST / HTTP/1.1\"}", "POSTER", "get /", "hello", "G"}) {
    CAPTURE(text);
    CHECK_FALSE(HttpGuard().is_http(text));
    CHECK_FALSE(is_http_bytewise(text));
  }
}

TEST_CASE("only the first line can make a connection HTTP") {
  HttpGuard guard;
  CHECK_FALSE(guard.is_http("{}\n"));
  CHECK_FALSE(guard.is_http("POST / HTTP/1.1\r\n"));
}
