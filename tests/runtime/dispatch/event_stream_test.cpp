#include "dispatch/event_stream.hpp"

#include "support/catch.hpp"

#include <asio/io_context.hpp>

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;

namespace {

// An exchange that remembers what it carried.
class FakeExchange final : public http::Exchange {
 public:
  void respond(http::Response response) override {
    body = response.body;
    done = true;
  }
  void start_stream(int, const http::Headers&) override { streaming = true; }
  void write(std::string_view bytes) override {
    if (std::exchange(breaks, false)) throw std::bad_alloc();
    body += bytes;
  }
  void finish() override { done = true; }
  bool ready() const override { return takes; }
  bool closed() const override { return gone; }
  bool has_room_for(std::size_t bytes) const override { return bytes <= room; }
  void disconnect() {
    gone = true;
    became_closed();
  }
  void take_more() {
    takes = true;
    became_ready();
  }

  std::string body;
  bool streaming = false;
  bool done = false;
  bool takes = true;
  bool gone = false;
  bool breaks = false;  // the next write() throws
  std::size_t room = static_cast<std::size_t>(-1);
};

struct Stream {
  explicit Stream(bool primes = false, MemoryBudget memory = {})
      : stream(std::make_shared<EventStream>(
            loop, EventStream::Options{
                      .id = "s", .primes = primes, .headers = {}, .remote = {}, .memory = std::move(memory)})) {}
  ~Stream() { stream->abandon(); }

  std::shared_ptr<FakeExchange> answer() {
    auto exchange = std::make_shared<FakeExchange>();
    stream->begin(*exchange);
    return exchange;
  }
  std::shared_ptr<FakeExchange> resume(std::optional<std::uint64_t> last_seen, bool takes = true) {
    auto exchange = std::make_shared<FakeExchange>();
    exchange->takes = takes;
    stream->resume(*exchange, last_seen);
    return exchange;
  }

  asio::io_context loop;
  std::shared_ptr<EventStream> stream;
};

std::string event(int number, const std::string& data) {
  return "id: s-" + std::to_string(number) + "\nevent: message\ndata: " + data + "\n\n";
}

}  // namespace

TEST_CASE("an answer that is all there is to say is plain JSON") {
  Stream stream;
  const auto exchange = stream.answer();
  stream.stream->last("{}", std::nullopt);
  CHECK(exchange->body == "{}");
  CHECK_FALSE(exchange->streaming);
  CHECK_FALSE(stream.stream->has_events());
}

TEST_CASE("messages before the answer make it a stream, each with an id") {
  Stream stream;
  const auto exchange = stream.answer();
  stream.stream->send("1");
  stream.stream->last("2", std::nullopt);
  CHECK(exchange->body == event(0, "1") + event(1, "2"));
  CHECK(exchange->done);
}

TEST_CASE("a client that takes it gets an empty event first, from which everything can be had again") {
  Stream stream(true);
  const auto exchange = stream.answer();
  stream.stream->send("1");
  CHECK(exchange->body == "id: s-0\ndata: \n\n" + event(1, "1"));
  exchange->disconnect();
  CHECK(stream.resume(0)->body == event(1, "1"));
}

TEST_CASE("who comes back gets what it has not seen, and the rest as it comes") {
  Stream stream;
  const auto first = stream.answer();
  stream.stream->send("1");
  stream.stream->send("2");
  first->disconnect();
  CHECK_FALSE(stream.stream->closed());
  stream.stream->send("3");
  CHECK(first->body == event(0, "1") + event(1, "2"));
  const auto second = stream.resume(0);
  CHECK(second->body == event(1, "2") + event(2, "3"));
  stream.stream->last("4", std::nullopt);
  CHECK(second->body == event(1, "2") + event(2, "3") + event(3, "4"));
  CHECK(second->done);
  // And once more, after the end.
  const auto third = stream.resume(2);
  CHECK(third->body == event(3, "4"));
  CHECK(third->done);
}

TEST_CASE("who comes back before its old connection is known to be broken is told more as soon as it takes more") {
  Stream stream;
  const auto old = stream.answer();
  old->takes = false;
  stream.stream->send("1");
  const auto exchange = stream.resume(0, false);
  CHECK(old->done);
  bool is_ready = false;
  stream.stream->when_ready([&is_ready] { is_ready = true; });
  old->take_more();
  CHECK_FALSE(is_ready);
  exchange->take_more();
  CHECK(is_ready);
}

TEST_CASE("an answer that comes while nobody is there waits") {
  Stream stream;
  const auto first = stream.answer();
  stream.stream->send("1");
  first->disconnect();
  stream.stream->last("2", std::nullopt);
  CHECK(stream.stream->ended());
  CHECK(stream.resume(0)->body == event(1, "2"));
}

TEST_CASE("of a stream that ended unanswered nothing more comes") {
  Stream stream;
  const auto exchange = stream.answer();
  stream.stream->send("1");
  stream.stream->none();
  CHECK(exchange->done);
  CHECK(stream.stream->ended());
  CHECK_FALSE(stream.stream->has_after(0));
}

TEST_CASE("a client that is let go is told when to come back") {
  Stream stream(true);
  const auto first = stream.answer();
  stream.stream->resume_after(std::chrono::milliseconds(500));
  CHECK(first->body == "id: s-0\ndata: \n\nretry: 500\n\n");
  CHECK(first->done);
  stream.stream->last("1", std::nullopt);
  CHECK(stream.resume(0)->body == event(1, "1"));

  Stream older;  // could not come back from the beginning
  const auto kept = older.answer();
  older.stream->resume_after(std::chrono::milliseconds(500));
  CHECK_FALSE(kept->done);
}

TEST_CASE("what is kept is bounded, the last message is kept in any case") {
  Stream stream;
  const auto first = stream.answer();
  stream.stream->send("x");
  first->disconnect();
  const std::string large(EventStream::kKeptBytes - 10, 'y');
  stream.stream->send(large);
  CHECK(stream.stream->ready());
  stream.stream->send(std::string(100, 'z'));
  CHECK(stream.resume(std::nullopt)->body == event(2, std::string(100, 'z')));
}

TEST_CASE("the standing stream keeps what comes while it is not read") {
  Stream stream;
  stream.stream->send("1");
  const auto first = stream.resume(std::nullopt);
  CHECK(first->body == event(0, "1"));
  stream.stream->send("2");
  CHECK(first->body == event(0, "1") + event(1, "2"));
  CHECK(stream.stream->is_attached());
  first->disconnect();
  CHECK_FALSE(stream.stream->is_attached());
  CHECK(stream.resume(std::nullopt)->body.empty());
}

TEST_CASE("ids of events name their stream and number") {
  CHECK(parse_event_id("12-7")->stream == "12");
  CHECK(parse_event_id("12-7")->number == 7);
  CHECK_FALSE(parse_event_id("12"));
  CHECK_FALSE(parse_event_id("12-"));
  CHECK_FALSE(parse_event_id("12-7x"));
}

TEST_CASE("there is room for what the exchange has room for, or without one for what can be kept") {
  const MemoryBudget memory(100'000);
  Stream stream(false, memory);
  const auto exchange = stream.answer();
  exchange->room = 1000;
  CHECK(stream.stream->has_room_for(1000));
  CHECK_FALSE(stream.stream->has_room_for(1001));
  stream.stream->send(std::string(90'000, 'x'));
  exchange->disconnect();
  CHECK(stream.stream->has_room_for(99'000));  // in place of what was sent
  CHECK_FALSE(stream.stream->has_room_for(190'001));
}

TEST_CASE("an answer that could not be written is not shown to who comes back") {
  Stream stream;
  const auto exchange = stream.answer();
  stream.stream->send("1");
  exchange->breaks = true;
  CHECK_THROWS_AS(stream.stream->last("answer", std::nullopt), std::bad_alloc);
  stream.stream->last("error", std::nullopt);
  exchange->disconnect();
  const std::string shown = stream.resume(0)->body;
  CHECK(shown.find("answer") == std::string::npos);
  CHECK(shown.find("data: error\n\n") != std::string::npos);
}
