#include "transport/http/origin_policy.hpp"

#include "support/catch.hpp"

#include <string>

using namespace rkllm_mcp;
using Binding = http::OriginPolicy::Binding;

namespace {

http::Request request_from(const std::string& host, const std::string& origin) {
  http::Request request;
  request.method = "POST";
  request.host = host;
  if (!origin.empty()) request.headers.add("Origin", origin);
  return request;
}

bool allows(const http::OriginPolicy& policy, const std::string& host, const std::string& origin) {
  return !policy.objection(request_from(host, origin));
}

}  // namespace

TEST_CASE("requests without Origin and those of loopback pages pass") {
  const http::OriginPolicy policy({}, Binding::kLoopback);
  for (const std::string host : {"localhost", "LOCALHOST:80", "127.0.0.1:8080", "[::1]", "[::1]:8080", ""}) {
    CAPTURE(host);
    CHECK(allows(policy, host, ""));
    CHECK(allows(policy, host, "http://localhost:3000"));
    CHECK(allows(policy, host, "https://127.0.0.1"));
    CHECK(allows(policy, host, "http://[::1]:1"));
  }
}

TEST_CASE("foreign origins and, on loopback, foreign hosts are refused") {
  const http::OriginPolicy policy({}, Binding::kLoopback);
  for (const std::string origin :
       {"http://evil.example", "null", "http://localhost.evil.example", "http://localhost:80.evil.example",
        "http://127.0.0.1.evil.example", "file://", "http://localhost@evil.example", "http://", "ftp://localhost"}) {
    CAPTURE(origin);
    CHECK_FALSE(allows(policy, "localhost", origin));
  }
  for (const std::string host : {"evil.example", "evil.example:8080", "localhost.evil.example",
                                 "127.0.0.1.evil.example", "[::1].evil", "[::2]"}) {
    CAPTURE(host);
    CHECK_FALSE(allows(policy, host, ""));
    CHECK(allows(http::OriginPolicy({}, Binding::kNetwork), host, ""));
  }
  auto twice = request_from("localhost", "http://localhost");
  twice.headers.add("Origin", "http://evil.example");
  CHECK(policy.objection(twice));
}

TEST_CASE("listed origins and hosts pass") {
  const http::OriginPolicy policy({{"https://chat.example"}, {"board.local"}}, Binding::kLoopback);
  CHECK(allows(policy, "localhost", "https://chat.example"));
  CHECK_FALSE(allows(policy, "localhost", "http://chat.example"));
  CHECK_FALSE(allows(policy, "localhost", "https://chat.example:444"));
  CHECK(allows(policy, "board.local:8080", ""));
  CHECK(allows(policy, "board.local:8080", "http://board.local:8080"));
  CHECK_FALSE(allows(policy, "board.local:8080", "http://board.local:81"));
  CHECK(allows(http::OriginPolicy({{"*"}, {}}, Binding::kLoopback), "localhost", "https://any.example"));
}

TEST_CASE("a server on the network takes its own pages by address, not by an unlisted name") {
  const http::OriginPolicy policy({}, Binding::kNetwork);
  CHECK(allows(policy, "192.168.1.5:8080", "http://192.168.1.5:8080"));
  CHECK(allows(policy, "[fe80::1]", "http://[fe80::1]"));
  CHECK_FALSE(allows(policy, "192.168.1.5:8080", "http://192.168.1.6:8080"));
  CHECK_FALSE(allows(policy, "evil.example", "http://evil.example"));
}

TEST_CASE("only listed origins get CORS headers and answered preflights") {
  const http::OriginPolicy policy({{"https://chat.example"}, {}}, Binding::kLoopback);
  CHECK(policy.cors_headers(request_from("localhost", "http://localhost:3000")).size() == 0);
  const auto headers = policy.cors_headers(request_from("localhost", "https://chat.example"));
  CHECK(headers.find("Access-Control-Allow-Origin") == std::string_view("https://chat.example"));
  CHECK(headers.lists("Access-Control-Expose-Headers", "Mcp-Session-Id"));

  http::OriginOptions options{{"https://chat.example"}, {}, {}};
  options.local_pages_read = [](const http::Request& request) { return request.path == "/v1/models"; };
  const http::OriginPolicy open(options, Binding::kLoopback);
  auto local = request_from("localhost", "http://localhost:3000");
  CHECK(open.cors_headers(local).size() == 0);
  local.path = "/v1/models";
  CHECK(open.cors_headers(local).find("Access-Control-Allow-Origin") == std::string_view("http://localhost:3000"));
  local.method = "OPTIONS";
  local.headers.add("Access-Control-Request-Method", "POST");
  CHECK(open.preflight(local)->headers.lists("Access-Control-Allow-Methods", "POST"));
  local.path = "/jsonrpc";
  CHECK(open.preflight(local)->headers.size() == 0);
  auto foreign = request_from("localhost", "http://localhost.evil.example");
  foreign.path = "/v1/models";
  CHECK(open.cors_headers(foreign).size() == 0);

  auto preflight = request_from("localhost", "https://chat.example");
  CHECK_FALSE(policy.preflight(preflight));
  preflight.method = "OPTIONS";
  CHECK_FALSE(policy.preflight(preflight));
  preflight.headers.add("Access-Control-Request-Method", "POST");
  preflight.headers.add("Access-Control-Request-Headers", "mcp-param-region, content-type");
  const auto answer = policy.preflight(preflight);
  REQUIRE(answer);
  CHECK(answer->status == 204);
  CHECK(answer->headers.lists("Access-Control-Allow-Methods", "POST"));
  CHECK(answer->headers.lists("Access-Control-Allow-Headers", "mcp-param-region"));
}
