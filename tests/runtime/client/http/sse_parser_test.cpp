#include "client/http/sse_parser.hpp"

#include "client/connection.hpp"
#include "support/catch.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp::client;

namespace {

constexpr std::size_t kPlenty = 1000;
using Events = std::vector<std::pair<std::string, std::string>>;  // type and data

// The events of a stream that comes in pieces of so many bytes.
Events parse_in_pieces(SseParser& parser, std::string_view text, std::size_t piece) {
  Events events;
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    parser.feed(text.substr(0, piece), [&](const SseEvent& event) { events.emplace_back(event.type, event.data); });
  }
  return events;
}

Events parse(std::string_view text) {
  SseParser parser(kPlenty);
  return parse_in_pieces(parser, text, text.size());
}

}  // namespace

TEST_CASE("the same events come whatever ends the lines and wherever the stream is cut") {
  const std::string lines =
      "\xEF\xBB\xBF: a comment\nevent: message\ndata: {\"a\":\ndata:  1}\n\nid: 7\ndata:second\nretry: 250\n\n"
      "data\ndata\n\nevent: ping\ndata: x:y\nunknown: z\n\n";
  const Events expected{{"message", "{\"a\":\n 1}"}, {"", "second"}, {"", "\n"}, {"ping", "x:y"}};
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    std::string text;
    for (const char c : lines) text += c == '\n' ? end : std::string(1, c);
    for (std::size_t piece = 1; piece <= text.size(); ++piece) {
      INFO("ends of " << end.size() << " bytes, pieces of " << piece);
      SseParser parser(kPlenty);
      CHECK(parse_in_pieces(parser, text, piece) == expected);
      CHECK(parser.last_id() == "7");
      CHECK(parser.retry() == std::chrono::milliseconds(250));
    }
  }
}

TEST_CASE("an event without data is none, but its id counts") {
  SseParser parser(kPlenty);
  CHECK(parse_in_pieces(parser, "event: x\n\nid: 5\n\n", 100).empty());
  CHECK(parser.last_id() == "5");
  CHECK(parse_in_pieces(parser, "id: 6\ndata:\n\n", 100) == Events{{"", ""}});
  CHECK(parser.last_id() == "6");
}

TEST_CASE("an id counts once its event is complete, stays for later events, and can be taken back") {
  SseParser parser(kPlenty);
  CHECK(parse_in_pieces(parser, "id: 1\ndata: a\n", 100).empty());
  CHECK(parser.last_id().empty());
  parse_in_pieces(parser, "\ndata: b\n\n", 100);
  CHECK(parser.last_id() == "1");
  parse_in_pieces(parser, "id\ndata: c\n\n", 100);
  CHECK(parser.last_id().empty());
}

TEST_CASE("an id with U+0000 and a retry that is no number are passed over") {
  using namespace std::string_view_literals;
  SseParser parser(kPlenty);
  parse_in_pieces(parser, "id: 1\nretry: 5\ndata: a\n\nid: 2\0\nretry: 9s\nretry: -1\nretry:\ndata: b\n\n"sv, 100);
  CHECK(parser.last_id() == "1");
  CHECK(parser.retry() == std::chrono::milliseconds(5));
}

TEST_CASE("only one space after the colon is dropped") {
  CHECK(parse("data:  two\n\n") == Events{{"", " two"}});
  CHECK(parse("data:\ttab\n\n") == Events{{"", "\ttab"}});
}

TEST_CASE("what the end of a stream leaves unfinished is void on the next one") {
  SseParser parser(kPlenty);
  CHECK(parse_in_pieces(parser, "id: 1\ndata: a\n\nid: 2\nevent: x\ndata: lost\r", 100) == Events{{"", "a"}});
  parser.restart();
  CHECK(parser.last_id() == "1");
  CHECK(parse_in_pieces(parser, "\ndata: b\n\n", 100) == Events{{"", "b"}});
  CHECK(parser.last_id() == "1");
}

TEST_CASE("an event that is too long is refused, on one line or many") {
  SseParser parser(20);
  const auto ignore = [](const SseEvent&) {};
  CHECK_NOTHROW(parser.feed("data: 12345678901234\n\n", ignore));
  CHECK_THROWS_AS(parser.feed("data: 1234567890123456789", ignore), ConnectionError);
  SseParser other(20);
  CHECK_THROWS_AS(other.feed("data: 12345678\ndata: 12345678\ndata: 12345678\n", ignore), ConnectionError);
}
