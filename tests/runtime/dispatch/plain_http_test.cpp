#include "dispatch/plain_http.hpp"

#include "mcp/protocol/agreed_names.hpp"
#include "runtime/fake_client.hpp"
#include "runtime/kept_answer.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

// Clients of POST /jsonrpc, without sockets.
struct PlainPath {
  std::shared_ptr<KeptAnswer> request(std::string method, std::string body, const std::string& session = {}) {
    http::Request request;
    request.method = std::move(method);
    request.body = std::move(body);
    request.remote = "192.0.2.1:4000";
    request.principal = client.dispatcher.gate().identify("");
    if (!session.empty()) request.headers.add(mcp::kSessionHeader, session);
    auto exchange = std::make_shared<KeptAnswer>();
    plain.handle(request, *exchange);
    client.settle();
    return exchange;
  }
  std::shared_ptr<KeptAnswer> post(std::string body) { return request("POST", std::move(body)); }
  // The status of the answer that there is at once.
  int status_of(std::string body) {
    const auto exchange = post(std::move(body));
    REQUIRE(exchange->answer);
    return exchange->answer->status;
  }

  Client client;
  HttpSessions sessions{client.dispatcher, std::chrono::minutes(5)};
  PlainHttp plain{client.dispatcher, sessions};
};

Json body_of(const KeptAnswer& exchange) {
  REQUIRE(exchange.answer);
  return Json::parse(exchange.answer->body);
}

const std::string kPlainCall = call("1", "plain", R"({"handle":"h","prompt":"p"})");

}  // namespace

TEST_CASE("a message that is posted is executed, and its answer comes with the response, whenever that is") {
  PlainPath path;
  const auto exchange = path.post(kPlainCall);
  REQUIRE(path.client.backend.calls.size() == 1);
  CHECK_FALSE(exchange->answer);
  path.client.backend.finish(0);
  path.client.settle();
  CHECK(exchange->answer->status == 200);
  CHECK(exchange->answer->content_type == "application/json");
  CHECK(body_of(*exchange)["id"] == 1);
  CHECK(body_of(*exchange)["result"]["status"] == 0);
}

TEST_CASE("an error of a message is an answer like others, with status 200") {
  PlainPath path;
  const auto exchange = path.post(call("7", "nothing", "{}"));
  CHECK(exchange->answer->status == 200);
  CHECK(body_of(*exchange)["error"]["code"] == -32601);
}

TEST_CASE("a notification is executed, and then has an answer without content") {
  PlainPath path;
  const auto exchange = path.post(R"({"jsonrpc":"2.0","method":"plain","params":{"handle":"h","prompt":"p"}})");
  REQUIRE(path.client.backend.calls.size() == 1);
  CHECK_FALSE(exchange->answer);
  path.client.backend.finish(0);
  path.client.settle();
  REQUIRE(exchange->answer);
  CHECK(exchange->answer->status == 202);
  CHECK(exchange->answer->body.empty());
}

TEST_CASE("what is no message has status 400 and says why, as a batch has") {
  PlainPath path;
  for (const std::string text : {"", "{", "[]", "5", R"({"jsonrpc":"1.0","id":1,"method":"plain"})"}) {
    INFO(text);
    CHECK(path.status_of(text) == 400);
  }
  const auto batch = path.post("[" + kPlainCall + "," + kPlainCall + "]");
  CHECK(batch->answer->status == 400);
  CHECK(body_of(*batch)["error"]["code"] == -32600);
  CHECK(path.client.backend.calls.empty());
}

TEST_CASE("only POST is taken, and whoever comes otherwise is told so") {
  PlainPath path;
  for (const char* const method : {"GET", "PUT", "DELETE", "HEAD", "post"}) {
    const auto exchange = path.request(method, kPlainCall);
    REQUIRE(exchange->answer);
    CHECK(exchange->answer->status == 405);
    CHECK(exchange->answer->headers.find("Allow") == "POST");
  }
  CHECK(path.client.backend.calls.empty());
}

TEST_CASE("a session that is named has to exist") {
  PlainPath path;
  CHECK(path.request("POST", kPlainCall, "none")->answer->status == 404);
  CHECK(path.client.backend.calls.empty());
}

TEST_CASE("the calls of a client that goes are cancelled, and nobody else's") {
  PlainPath path;
  const auto stays = path.post(kPlainCall);
  const auto goes = path.post(call("2", "plain", R"({"handle":"h","prompt":"p"})"));
  goes->close();
  path.client.settle();
  CHECK(path.client.backend.cancelled == std::vector<Backend::CallId>{2});
  path.client.backend.finish(0);
  path.client.settle();
  CHECK(body_of(*stays)["result"]["status"] == 0);
}

TEST_CASE("a long body is parsed beside the loop, and executed, but not where its client has gone") {
  PlainPath path;
  const std::string text = call("1", "plain", Json{{"handle", "h"}, {"prompt", std::string(2'000'000, 'x')}}.dump());
  const auto settle_until = [&path](const auto& is_so) {
    while (!is_so()) path.client.settle();
  };
  const auto goes = path.post(text);
  CHECK(path.client.backend.calls.empty());
  goes->close();
  const auto stays = path.post(text);
  settle_until([&path] { return !path.client.backend.calls.empty(); });
  REQUIRE(path.client.backend.calls.size() == 1);
  path.client.backend.finish(0);
  path.client.settle();
  CHECK(body_of(*stays)["result"]["status"] == 0);
  CHECK_FALSE(goes->answer);
}
