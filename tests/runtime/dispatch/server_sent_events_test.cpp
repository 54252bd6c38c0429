#include "dispatch/server_sent_events.hpp"

#include "support/catch.hpp"

#include <chrono>

using namespace rkllm_mcp;
using namespace std::chrono_literals;

TEST_CASE("an event has its id, its name and one line of data, and ends with an empty line") {
  CHECK(event_of(R"({"a":1})", "3-7") == "id: 3-7\nevent: message\ndata: {\"a\":1}\n\n");
  CHECK(event_of("{}") == "event: message\ndata: {}\n\n");
  CHECK(event_of("/messages?id=1", {}, "endpoint") == "event: endpoint\ndata: /messages?id=1\n\n");
}

TEST_CASE("an event without data has no name: it brings nothing but its id") {
  CHECK(event_of({}, "3-0") == "id: 3-0\ndata: \n\n");
}

TEST_CASE("when to come again is told in milliseconds") { CHECK(retry_after(1500ms) == "retry: 1500\n\n"); }

TEST_CASE("an answer of events is neither kept nor held back by whoever is in between") {
  const auto headers = event_stream_headers({{"Mcp-Session-Id", "1"}});
  CHECK(headers.find("Mcp-Session-Id") == "1");
  CHECK(headers.find("Content-Type") == "text/event-stream");
  CHECK(headers.find("Cache-Control") == "no-store");
  CHECK(headers.find("X-Accel-Buffering") == "no");
}

TEST_CASE("a client takes events if any of its Accept headers says so") {
  const auto accepts = [](const char* value) { return accepts_events({{"accept", value}}); };
  CHECK(accepts("text/event-stream"));
  CHECK(accepts("application/json, text/event-stream;q=0.9"));
  CHECK_FALSE(accepts("application/json"));
  CHECK_FALSE(accepts(""));
  CHECK_FALSE(accepts_events({}));
  CHECK_FALSE(accepts_events({{"Content-Type", "text/event-stream"}}));
  CHECK(accepts_events({{"Accept", "application/json"}, {"ACCEPT", "text/event-stream"}}));
}
