#include "call/push_reader.hpp"

#include "runtime/fake_backend.hpp"
#include "support/catch.hpp"
#include "support/usual_limits.hpp"

#include <asio/io_context.hpp>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

// A stream that is pushed. Its loop runs only inside settle().
struct PushedStream {
  explicit PushedStream(PushReader::Options how = {}, PeerFacts facts = {.address = "test"},
                        const TokenStream::Options& stream = usual_limits<TokenStream::Options>())
      : peer(std::make_shared<FakePeer>(std::move(facts))) {
    const auto reply = std::make_shared<Reply>(*peer, "1");
    reader = StreamReader::make<PushReader>(loop, stream, *reply, ChunkWriter::replies("1", "run"), std::move(how));
    reader->on_finished([this] { ++finished; });
  }

  void settle() {
    loop.restart();
    loop.poll();
  }
  void bring(const std::string& text) {
    reader->stream()->on_token(0, text, 1);
    settle();
  }
  void end() {
    CallOutcome outcome;
    outcome.result = Json{{"status", 0}};
    reader->stream()->on_done(std::move(outcome));
    settle();
  }
  std::vector<std::string> told() { return std::exchange(peer->sent, {}); }

  asio::io_context loop;
  std::shared_ptr<FakePeer> peer;
  std::shared_ptr<PushReader> reader;
  int finished = 0;
};

PushReader::Options retaining(std::size_t messages) {
  PushReader::Options options;
  options.retained = messages;
  return options;
}

Json chunk_of(const std::string& message) { return Json::parse(message).at("result").at("chunk"); }

}  // namespace

TEST_CASE("a token longer than its client wants chunks to be comes in several, none longer, no character divided") {
  constexpr std::size_t kPreferred = 300;
  PushedStream stream({}, {.address = "test", .preferred_chunk_bytes = kPreferred});
  std::string text;
  for (int at = 0; at < 300; ++at) text += at % 2 == 0 ? "\n\"\x01" : "\xF0\x9F\x98\x80";
  stream.bring(text);
  stream.end();
  std::string told;
  for (const std::string& message : stream.told()) {
    CHECK(message.size() <= kPreferred);
    told += chunk_of(message)["delta"].get<std::string>();
  }
  CHECK(told == text);
}

TEST_CASE("a client that wants chunks shorter than any can be gets one character at a time") {
  PushedStream stream({}, {.address = "test", .preferred_chunk_bytes = 1});
  stream.bring("a\xE4\xBD\xA0z");
  std::vector<std::string> deltas;
  for (const std::string& message : stream.told()) deltas.push_back(chunk_of(message)["delta"]);
  CHECK(deltas == std::vector<std::string>{"a", "\xE4\xBD\xA0", "z"});
}

TEST_CASE("places in the queue are told ahead of the text, and no more once it has begun") {
  auto options = usual_limits<TokenStream::Options>();
  options.tell_position = true;
  PushedStream stream({}, {.address = "test"}, options);
  stream.reader->stream()->on_queued(2);
  stream.settle();
  stream.reader->stream()->on_begun(std::nullopt);
  stream.settle();
  std::vector<Json> places;
  for (const std::string& message : stream.told()) places.push_back(Json::parse(message)["result"]);
  CHECK(places == std::vector<Json>{Json{{"queue_position", 2}}, Json{{"queue_position", 0}}});
  stream.bring("a");
  stream.told();
  stream.reader->stream()->on_queued(5);
  stream.settle();
  CHECK(stream.told().empty());
}

TEST_CASE("a client that does not read is told no places in the queue, and then the newest one") {
  auto options = usual_limits<TokenStream::Options>();
  options.tell_position = true;
  PushedStream stream({}, {.address = "test"}, options);
  stream.peer->takes = false;
  for (std::size_t place = 20; place > 0; --place) {
    stream.reader->stream()->on_queued(place);
    stream.settle();
  }
  CHECK(stream.told().empty());
  stream.peer->take_again();
  stream.settle();
  const auto told = stream.told();
  REQUIRE(told.size() == 1);
  CHECK(Json::parse(told[0])["result"] == Json{{"queue_position", 1}});
}

TEST_CASE("what a stream retains is sent again from the chunk asked for on, with the end, each byte for byte") {
  PushedStream stream(retaining(10));
  stream.bring("a");
  stream.bring("b");
  stream.bring("c");
  stream.end();
  const auto all = stream.told();
  REQUIRE(all.size() == 4);
  CHECK(stream.finished == 1);
  for (std::size_t from = 0; from < all.size(); ++from) {
    CHECK(stream.reader->send_again(from));
    CHECK(stream.told() == std::vector<std::string>(all.begin() + static_cast<std::ptrdiff_t>(from), all.end()));
  }
  CHECK(stream.reader->last_seq() == 3);
}

TEST_CASE("who asks for chunks that have not come yet is told the number of the next one") {
  PushedStream stream(retaining(10));
  CHECK(stream.reader->last_seq() == 0);
  CHECK(stream.reader->send_again(0));
  CHECK(chunk_of(stream.told().at(0)) == Json{{"seq", 0}, {"delta", ""}});
  stream.bring("a");
  stream.told();
  for (const std::uint64_t seq : {std::uint64_t{1}, std::uint64_t{2}, static_cast<std::uint64_t>(-1)}) {
    CHECK(stream.reader->send_again(seq));
    const auto told = stream.told();
    REQUIRE(told.size() == 1);
    CHECK(chunk_of(told[0]) == Json{{"seq", 1}, {"delta", ""}});
  }
  stream.bring("b");
  CHECK(chunk_of(stream.told().at(0))["seq"] == 1);
}

TEST_CASE("chunks that are retained no more are not sent again, nor is anything in their place") {
  PushedStream stream(retaining(2));
  for (const char* const text : {"a", "b", "c"}) stream.bring(text);
  const auto all = stream.told();
  CHECK(stream.reader->first_retained() == 1);
  CHECK_FALSE(stream.reader->send_again(0));
  CHECK(stream.told().empty());
  CHECK(stream.reader->send_again(1));
  CHECK(stream.told() == std::vector<std::string>{all[1], all[2]});
}

TEST_CASE("a stream that retains nothing has only its next number to tell") {
  PushedStream stream;
  stream.bring("a");
  stream.told();
  CHECK(stream.reader->first_retained() == 1);
  CHECK_FALSE(stream.reader->send_again(0));
  CHECK(stream.reader->send_again(1));
  CHECK(chunk_of(stream.told().at(0)) == Json{{"seq", 1}, {"delta", ""}});
}

TEST_CASE("a client whose send queue is full is sent one retained message for each time that it asks") {
  PushedStream stream(retaining(10));
  for (const char* const text : {"a", "b", "c"}) stream.bring(text);
  const auto all = stream.told();
  stream.peer->takes = false;
  for (std::uint64_t seq = 0; seq < 3; ++seq) {
    CHECK(stream.reader->send_again(seq));
    CHECK(stream.told() == std::vector<std::string>{all[static_cast<std::size_t>(seq)]});
  }
}

TEST_CASE("a stream that is sent once more as a whole begins with its announcement, unless its beginning is gone") {
  PushedStream stream(retaining(2));
  stream.reader->announce("there");
  stream.bring("a");
  const auto all = stream.told();
  REQUIRE(all.size() == 2);
  stream.reader->send_all_again();
  CHECK(stream.told() == all);
  stream.bring("b");
  stream.bring("c");
  stream.told();
  stream.reader->send_all_again();
  CHECK(stream.told().empty());
}

TEST_CASE("what is retained counts in the memory, and is given back with the stream") {
  const MemoryBudget memory(100);
  auto options = retaining(10);
  options.memory = memory;
  const std::string text(MemoryShare::kGuaranteed, 'x');
  {
    PushedStream stream(options);
    stream.bring("a");
    CHECK(memory.used() == stream.peer->sent.at(0).size());
    stream.bring(text);  // there is no room for it, but the last one is always kept
    const auto all = stream.told();
    REQUIRE(all.size() > 1);
    CHECK(stream.reader->first_retained() == all.size() - 1);
    CHECK(memory.used() == all.back().size());
    CHECK(stream.reader->send_again(stream.reader->first_retained()));
    CHECK(stream.told() == std::vector<std::string>{all.back()});
  }
  CHECK(memory.used() == 0);
}

TEST_CASE("an end that does not fit the transport ends the stream with an error, which can be asked for again") {
  PushedStream stream(retaining(10), {.address = "test", .max_message_bytes = 400});
  CallOutcome outcome;
  outcome.values = Json{{"long", std::string(1000, 'x')}};
  stream.reader->stream()->on_done(std::move(outcome));
  stream.settle();
  const auto told = stream.told();
  REQUIRE(told.size() == 1);
  CHECK(Json::parse(told[0])["error"]["code"] == 4006);
  CHECK(Json::parse(told[0])["error"]["data"]["limit"] == 400);
  CHECK(stream.finished == 1);
  CHECK(stream.reader->send_again(0));
  CHECK(stream.told() == told);
}

TEST_CASE("the error that a fault has ended a stream with can be asked for again") {
  PushedStream stream(retaining(10));
  stream.bring("a");
  stream.told();
  stream.peer->breaks = true;
  CHECK_THROWS_AS(stream.bring("b"), std::logic_error);
  const auto told = stream.told();
  REQUIRE(told.size() == 1);
  CHECK(Json::parse(told[0])["error"]["code"] == -32603);
  CHECK(stream.finished == 1);
  CHECK(stream.reader->send_again(1));
  CHECK(stream.told() == told);
}

TEST_CASE("a stream that waits for its client lives until that takes something, or has gone") {
  PushedStream stream;
  stream.peer->takes = false;
  stream.bring("a");
  const std::weak_ptr<PushReader> weak = stream.reader;
  stream.reader.reset();
  CHECK_FALSE(weak.expired());
  SECTION("takes") {
    stream.peer->take_again();
    CHECK(chunk_of(stream.told().at(0))["delta"] == "a");
  }
  SECTION("gone") {
    stream.peer->close();
    CHECK(stream.told().empty());
  }
  CHECK(weak.expired());
}
