#include "dispatch/http_sessions.hpp"

#include "mcp/protocol/agreed_names.hpp"
#include "runtime/fake_client.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <cstddef>
#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

http::Request request_from(const std::string& address, const std::string& session = {}) {
  http::Request request;
  request.remote = address;
  if (!session.empty()) request.headers.add(mcp::kSessionHeader, session);
  return request;
}

struct Table {
  std::string open(const std::string& address) {
    const auto opened = sessions.open(request_from(address));
    return opened ? opened->id : std::string();
  }
  bool knows(const std::string& id) { return sessions.of(request_from("192.0.2.9:1", id)).session != nullptr; }

  Client client;
  HttpSessions sessions{client.dispatcher, std::chrono::minutes(5)};
};

}  // namespace

TEST_CASE("who opens many sessions pushes out its own, and nobody's who has fewer") {
  Table table;
  const std::string others = table.open("192.0.2.1:4000");
  const std::string first = table.open("[2001:db8::1]:4000");
  std::string last;
  for (std::size_t i = 0; i < 2 * HttpSessions::kMost; ++i) {
    last = table.open("[2001:db8::" + std::to_string(i % 5000) + "]:" + std::to_string(i));
  }
  CHECK(table.knows(others));
  CHECK(table.knows(last));
  CHECK_FALSE(table.knows(first));
  const std::string newcomer = table.open("192.0.2.2:4000");
  CHECK(table.knows(newcomer));
  CHECK(table.knows(others));
}

TEST_CASE("a session that nobody has used for long enough is over at its next request") {
  Table table;
  HttpSessions short_lived(table.client.dispatcher, std::chrono::seconds(0));
  const auto opened = short_lived.open(request_from("192.0.2.1:1"));
  REQUIRE(opened);
  const auto before = Clock::now();
  while (Clock::now() == before) {
  }
  CHECK(short_lived.of(request_from("192.0.2.1:1", opened->id)).session == nullptr);
  CHECK_FALSE(short_lived.end(opened->id));
  CHECK(table.knows(table.open("192.0.2.1:1")));
}

TEST_CASE("a newcomer takes the place of the session that has rested longest where everybody has one") {
  Table table;
  const auto address = [](std::size_t i) {
    return "10.0." + std::to_string(i / 256) + "." + std::to_string(i % 256) + ":1";
  };
  const std::string first = table.open(address(0));
  const std::string second = table.open(address(1));
  for (std::size_t i = 2; i < HttpSessions::kMost; ++i) table.open(address(i));
  CHECK(table.knows(first));  // which is a request of it
  CHECK_FALSE(table.open("192.0.2.1:1").empty());
  CHECK(table.knows(first));
  CHECK_FALSE(table.knows(second));
}

TEST_CASE("a session that has ended watches nothing more, also while one of its calls takes its time to stop") {
  Table table;
  Client& client = table.client;
  http::Request request = request_from("192.0.2.1:1");
  request.principal = client.dispatcher.gate().identify("");
  const auto opened = table.sessions.open(request);
  REQUIRE(opened);
  const auto say = [&](const std::string& text) {
    receive_text(client.dispatcher, text, opened->session, *client.peer, Delivery::kPush);
    client.settle();
  };
  say(call("1", "initialize", R"({"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{}})"));
  say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  say(call("2", "resources/subscribe", R"({"uri":"fake://api"})"));
  say(call("3", "tools/call", R"({"name":"run","arguments":{"handle":"a","prompt":"b"}})"));
  REQUIRE(client.dispatcher.mcp().is_watched("fake://"));
  REQUIRE(client.backend.calls.size() == 1);
  CHECK(table.sessions.end(opened->id));
  CHECK(client.backend.cancelled.size() == 1);
  CHECK_FALSE(client.dispatcher.mcp().is_watched("fake://"));
}
