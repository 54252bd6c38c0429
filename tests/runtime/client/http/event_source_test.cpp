#include "client/http/event_source.hpp"

#include "client/connection.hpp"
#include "runtime/client/one_shot_server.hpp"
#include "runtime/client/scripted_http_server.hpp"
#include "support/catch.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp::client;
using namespace rkllm_mcp::test;
using namespace std::chrono_literals;

namespace {

using SourceEnd = EventSource::End;
using EventTexts = std::vector<std::string>;

// The events of a server, and what has come of them.
struct Following {
  explicit Following(std::uint16_t port) : state(Endpoint{Protocol::kHttp, "127.0.0.1", port, "/mcp"}, 60s) {}

  SourceEnd until(std::size_t count) {
    return source.follow([this, count] { return messages.size() >= count; });
  }

  HttpServerState state;
  EventTexts messages;
  std::unique_ptr<HttpRoundTrip> trip = state.connection(60s);
  EventSource source{state, *trip, [this](std::string message) { messages.push_back(std::move(message)); }};
};

// One that is fed by the test alone.
struct Fed : Following {
  Fed() : Following(1) {}
};

void answer_with_events(httplib::Response& response, const std::string& events) {
  response.set_content(events, "text/event-stream");
}

const std::string kSoon = "retry: 0\n";

}  // namespace

TEST_CASE("messages are delivered, whole and in their order, in whatever pieces they come") {
  Fed fed;
  for (const char byte : std::string("data: {\"a\":\ndata: 1}\n\nevent: message\ndata: gr\xC3\xBC\xC3\x9F\n\n")) {
    CHECK(fed.source.feed(std::string(1, byte)));
  }
  CHECK(fed.messages == EventTexts{"{\"a\":\n1}", "gr\xC3\xBC\xC3\x9F"});
}

TEST_CASE("what is no message is not delivered") {
  Fed fed;
  CHECK(fed.source.feed("event: other\ndata: 1\n\ndata:\n\nid: 7\n\n: comment\n\nretry: 5\n\ndata: 2\n\n"));
  CHECK(fed.messages == EventTexts{"2"});
}

TEST_CASE("a stream can be resumed as soon as an event with a number is complete") {
  Fed fed;
  fed.source.feed("data: 1\n\n");
  CHECK_FALSE(fed.source.is_resumable());
  fed.source.feed("id: 7\ndata: 2\n");
  CHECK_FALSE(fed.source.is_resumable());
  fed.source.feed("\n");
  CHECK(fed.source.is_resumable());
}

TEST_CASE("an event as long as a message may be is delivered, a longer one is the end of the stream") {
  const std::string longest = "data: " + std::string(kLongestMessage - 6, 'x');
  Fed fed;
  CHECK(fed.source.feed(longest + "\n\n"));
  REQUIRE(fed.messages.size() == 1);
  CHECK(fed.messages[0].size() == kLongestMessage - 6);
  CHECK_FALSE(fed.source.is_too_long());
  CHECK_FALSE(fed.source.feed(longest + "x\n\n"));
  CHECK(fed.source.is_too_long());
  CHECK(fed.messages.size() == 1);
}

TEST_CASE("a stream that ends is asked for again, after the last event that was complete, until it is done") {
  ScriptedHttpServer server([](const auto& asked, auto& response) {
    const std::string last = asked.get_header_value("Last-Event-ID");
    if (last.empty()) return answer_with_events(response, kSoon + "id: a\ndata: 1\n\nid: b\ndata: unfinished");
    if (last == "a") return answer_with_events(response, "data: 2\n\nid: c\ndata: 3\n\n");
    CHECK(last == "c");
    answer_with_events(response, "data: 4\n\n");
  });
  Following following(server.port());
  CHECK(following.until(4) == SourceEnd::kDone);
  CHECK(following.messages == EventTexts{"1", "2", "3", "4"});
  CHECK(following.source.status() == 200);
  const auto asked = server.asked();
  REQUIRE(asked.size() == 3);
  for (const auto& each : asked) {
    CHECK(each.method == "GET");
    CHECK(each.get_header_value("Accept") == "text/event-stream");
  }
}

TEST_CASE("what was fed before counts where a stream goes on") {
  ScriptedHttpServer server([](const auto& asked, auto& response) {
    answer_with_events(response, "data: after " + asked.get_header_value("Last-Event-ID") + "\n\n");
  });
  Following following(server.port());
  following.source.feed("id: 7\ndata: 1\n\ndata: unfinished");
  CHECK(following.until(2) == SourceEnd::kDone);
  CHECK(following.messages == EventTexts{"1", "after 7"});
}

TEST_CASE("a stream that is answered time and again, but empty, is asked for as long as it takes") {
  constexpr int kEmptyOnes = 8;
  std::atomic<int> count = 0;
  ScriptedHttpServer server([&count](const auto&, auto& response) {
    answer_with_events(response, ++count <= kEmptyOnes ? kSoon + "\n" : "data: 1\n\n");
  });
  Following following(server.port());
  CHECK(following.until(1) == SourceEnd::kDone);
  CHECK(server.asked().size() == kEmptyOnes + 1);
}

TEST_CASE("a stream that the server does not serve is refused, by a status or by what is no stream") {
  for (const int status : {204, 302, 404, 405, 500}) {
    CAPTURE(status);
    ScriptedHttpServer server([status](const auto&, auto& response) {
      response.status = status;
      if (status != 204) response.set_content("data: 1\n\n", "text/event-stream");
    });
    Following following(server.port());
    CHECK(following.until(1) == SourceEnd::kRefused);
    CHECK(following.source.status() == status);
    CHECK(following.messages.empty());
    CHECK(server.asked().size() == 1);
  }
  ScriptedHttpServer server([](const auto&, auto& response) { response.set_content("data: 1\n\n", "text/html"); });
  Following following(server.port());
  CHECK(following.until(1) == SourceEnd::kRefused);
  CHECK(following.source.status() == 200);
  CHECK(following.messages.empty());
}

TEST_CASE("a server that cannot be reached is gone, and so is one that breaks off five times in a row") {
  const OneShotServer nobody([](int) {});
  nobody.stop_listening();
  CHECK(Following(nobody.port()).until(1) == SourceEnd::kGone);

  std::atomic<int> questions = 0;
  std::optional<OneShotServer> breaking;
  const auto break_off = [&questions](int client) {
    std::array<char, 4096> question{};
    const auto size = ::recv(client, question.data(), question.size(), 0);
    if (std::string(question.data(), static_cast<std::size_t>(size)).starts_with("GET /mcp")) ++questions;
    ::shutdown(client, SHUT_RDWR);
  };
  breaking.emplace([&](int first) {
    break_off(first);
    for (int next = breaking->accept(); next >= 0; next = breaking->accept()) {
      break_off(next);
      ::close(next);
    }
  });
  Following following(breaking->port());
  following.source.feed(kSoon + "\n");
  CHECK(following.until(1) == SourceEnd::kGone);
  CHECK(questions == 5);
}

TEST_CASE("an event that is too long stops the stream") {
  ScriptedHttpServer server([](const auto&, auto& response) {
    answer_with_events(response, "data: " + std::string(kLongestMessage + 100, 'x') + "\n\n");
  });
  Following following(server.port());
  CHECK(following.until(1) == SourceEnd::kStopped);
  CHECK(following.source.is_too_long());
}

TEST_CASE("a stream is stopped from another thread while it is open") {
  ScriptedHttpServer server(
      [&server](const auto&, auto& response) { server.send_until_closed(response, "data: 1\n\n"); });
  Following following(server.port());
  std::atomic<bool> has_ended = false;
  auto end = std::async(std::launch::async, [&] {
    const auto how = following.until(2);
    has_ended = true;
    return how;
  });
  server.asked(1);
  while (!has_ended) following.source.stop();
  CHECK(end.get() == SourceEnd::kStopped);
}

TEST_CASE("a stream is stopped between two connections as well, however long the server wants it to wait") {
  ScriptedHttpServer server([](const auto&, auto& response) { answer_with_events(response, "retry: 86400000\n\n"); });
  Following following(server.port());
  auto end = std::async(std::launch::async, [&] { return following.until(1); });
  server.asked(1);
  following.source.stop();
  CHECK(end.get() == SourceEnd::kStopped);
  CHECK_FALSE(following.source.pause());
  CHECK(server.asked().size() == 1);
}
