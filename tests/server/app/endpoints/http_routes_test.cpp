#include "app/endpoints/http_routes.hpp"

#include "chat/http/chat_routes.hpp"
#include "runtime/fake_client.hpp"
#include "runtime/kept_answer.hpp"
#include "server/chat/host/scripted_lender.hpp"
#include "settings_defaults.h"
#include "support/catch.hpp"
#include "support/process.hpp"
#include "support/usual_limits.hpp"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace rkllm_mcp::test {
namespace {

const std::string kToken = "0123456789abcdef";

Dispatcher::Options options_with_token() {
  const TemporaryDirectory place;
  const std::string file = place.path() + "/tokens";
  write_file(file, "somebody " + kToken + "\n");
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  auto options = usual_limits<Dispatcher::Options>();
  options.tokens = AccessTokens::read(file);
  return options;
}

struct Site {
  Site() {
    routes.ask_first([this](const http::Request& request, http::Exchange& exchange) {
      if (!chat::ChatRoutes::serves(request)) return false;
      chat_routes.handle(request, exchange);
      return true;
    });
  }

  // Reads the request as a connection does, and has it answered.
  http::Response ask(const std::string& line, const std::string& token, const std::string& body = "") {
    http::ParserLimits limits;
    limits.header_bytes = 1000;
    limits.body_bytes = 1000;
    limits.identify = [this](const http::Request& head) {
      ++looked_up;
      return client.dispatcher.gate().principal_of(head);
    };
    http::Parser parser(limits);
    parser.feed(line + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token +
                "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                body);
    REQUIRE(parser.complete());
    http::Request request = parser.take();
    // Whoever looks at the token once more finds one that nobody has.
    request.headers = {{"Content-Type", "application/json"}, {"Authorization", "Bearer nobody-has-this-token"}};
    const auto exchange = std::make_shared<KeptAnswer>();
    routes.handle(request, *exchange);
    do {
      client.settle();
    } while (lender.step());
    REQUIRE(exchange->answer);
    return *exchange->answer;
  }

  Client client{options_with_token()};
  chat::testing::ScriptedLender lender;
  chat::ChatHost host{lender, {.warm_up_bytes = 0}};
  chat::ChatRoutes chat_routes{
      client.loop, client.dispatcher.gate(), host, {.heartbeat = std::chrono::seconds(defaults::kChatHeartbeatS)}};
  HttpRoutes routes{client.dispatcher, std::chrono::minutes(5), std::nullopt,
                    [] {
                      return Json{{"status", "ok"}};
                    },
                    [] { return std::string(); }};
  std::size_t looked_up = 0;
};

}  // namespace

TEST_CASE("the access token of an HTTP request is looked up once, whatever it asks for") {
  Site site;
  const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  CHECK(site.ask("POST /mcp", kToken, ping).status == 200);
  CHECK(site.looked_up == 1);
  CHECK(site.ask("POST /mcp", kToken,
                 call("1", "initialize",
                      R"({"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}})"))
            .status == 200);
  CHECK(site.looked_up == 2);
  CHECK(site.ask("POST /jsonrpc", kToken, ping).status == 200);
  CHECK(site.looked_up == 3);
  CHECK(site.ask("GET /health", kToken).body == R"({"status":"ok"})");
  CHECK(site.looked_up == 4);
  CHECK(site.ask("GET /v1/models", kToken).status == 200);
  CHECK(site.looked_up == 5);
}

TEST_CASE("what the HTTP layer refuses at the chat host's paths has the form of the dialect there") {
  const auto refused = [](const std::string& path, int status) {
    http::Request request;
    request.method = "POST";
    request.path = path;
    return chat::ChatRoutes::refusal(request, {status, "the limit is 5 bytes"});
  };
  const auto anthropic = refused("/v1/messages", 413);
  REQUIRE(anthropic);
  CHECK(anthropic->status == 413);
  CHECK(anthropic->content_type == "application/json");
  const Json error = Json::parse(anthropic->body);
  CHECK(error.at("type") == "error");
  CHECK(error.at("error").at("type") == "request_too_large");
  CHECK(error.at("error").at("message") == "the body is too large: the limit is 5 bytes");
  CHECK(anthropic->headers.find("request-id") == error.at("request_id").get<std::string>());
  CHECK(Json::parse(refused("/v1/chat/completions", 401)->body).at("error").at("code") == "invalid_api_key");
  CHECK(Json::parse(refused("/api/chat", 413)->body) == Json{{"error", "the body is too large: the limit is 5 bytes"}});
  CHECK(refused("/v1/messages", 503)->status == 529);
  CHECK(refused("/v1/responses", 408)->status == 408);
  CHECK_FALSE(refused("/mcp", 413));
}

TEST_CASE("an HTTP request with a token that nobody has is refused, after one look-up") {
  Site site;
  CHECK(site.ask("POST /mcp", "nobody-has-this-one", R"({"jsonrpc":"2.0","id":1,"method":"ping"})").status == 401);
  CHECK(site.looked_up == 1);
  CHECK(site.ask("GET /v1/models", "nobody-has-this-one").status == 401);
  CHECK(site.looked_up == 2);
}

}  // namespace rkllm_mcp::test
