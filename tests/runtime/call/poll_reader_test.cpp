#include "call/poll_reader.hpp"

#include "runtime/fake_backend.hpp"
#include "side_thread.hpp"
#include "support/catch.hpp"
#include "support/usual_limits.hpp"

#include <rkllm_mcp/errors.hpp>

#include <asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

constexpr std::chrono::milliseconds kAtOnce{0};
constexpr std::chrono::milliseconds kShortly{1};
constexpr std::size_t kManyValues = kWrittenAtOnceBytes / sizeof(float) + 1;  // so many are written beside the loop
constexpr std::chrono::milliseconds kForLong = std::chrono::minutes(10);

// A stream that is polled. Its loop runs only inside settle() and run_until().
struct PolledStream {
  explicit PolledStream(PollReader::Options how = usual_limits<PollReader::Options>(),
                        const TokenStream::Options& stream = usual_limits<TokenStream::Options>())
      : writing(loop) {
    how.writing = &writing;
    reader = StreamReader::make<PollReader>(loop, stream, loop, ChunkWriter::replies("0", "run"), std::move(how),
                                            [this] { events.emplace_back("expired"); });
    reader->on_finished([this] { events.emplace_back("finished"); });
  }

  void settle() {
    loop.restart();
    loop.poll();
  }
  // Whether it becomes true before nothing is left to happen.
  bool run_until(const std::function<bool()>& condition) {
    loop.restart();
    while (!condition() && loop.run_one() > 0) continue;
    return condition();
  }
  bool is_finished() const { return !events.empty() && events.back() == "finished"; }

  void bring(const std::string& text, std::size_t batch = 0) { reader->stream()->on_token(batch, text, 1); }
  void end(CallOutcome outcome = {}) {
    if (!outcome.error) outcome.result = Json{{"status", 0}};
    reader->stream()->on_done(std::move(outcome));
  }
  void fail() { end({.error = std::make_exception_ptr(CallFailed("run", -1))}); }

  void end_with_many_values() {
    const std::vector<float> values(kManyValues, 0.25F);
    reader->stream()->on_rows({"logits", "logits", "num_tokens", "vocab_size", values.data(), 1, values.size()});
    end();
  }

  std::shared_ptr<Reply> poll(const std::string& id, std::chrono::milliseconds wait = kAtOnce) {
    auto reply = std::make_shared<Reply>(*peer, id);
    reader->poll(*reply, wait);
    return reply;
  }
  // What a poll that does not wait is answered with.
  Json polled(const std::string& id = "1") {
    peer->sent.clear();
    poll(id);
    return only_answer();
  }
  Json only_answer() const {
    REQUIRE(peer->sent.size() == 1);
    return Json::parse(peer->sent[0]);
  }

  asio::io_context loop;
  std::shared_ptr<FakePeer> peer = std::make_shared<FakePeer>(TransportKind::kHttp);
  std::vector<std::string> events;
  SideThread writing;  // ends after the stream, and before its loop
  std::shared_ptr<PollReader> reader;
};

PollReader::Options expiring_shortly() {
  PollReader::Options options;
  options.expiry = kShortly;
  return options;
}

}  // namespace

TEST_CASE("a poll is answered under its own id with all that has come since the last one") {
  PolledStream stream;
  for (const char* const text : {"a", "b", "c"}) stream.bring(text);
  const Json first = stream.polled("\"one\"");
  CHECK(first["id"] == "one");
  CHECK(first["result"] == Json{{"chunk", {{"seq", 0}, {"delta", "abc"}}}});
  stream.bring("d");
  const Json second = stream.polled("2");
  CHECK(second["id"] == 2);
  CHECK(second["result"] == Json{{"chunk", {{"seq", 1}, {"delta", "d"}}}});
}

TEST_CASE("a poll that does not wait and finds nothing is told the next chunk's number, which stays the next one's") {
  PolledStream stream;
  CHECK(stream.polled()["result"]["chunk"] == Json{{"seq", 0}, {"delta", ""}});
  stream.bring("a");
  CHECK(stream.polled()["result"]["chunk"] == Json{{"seq", 0}, {"delta", "a"}});
  CHECK(stream.polled()["result"]["chunk"] == Json{{"seq", 1}, {"delta", ""}});
}

TEST_CASE("a poll that waits is answered with what comes next") {
  PolledStream stream;
  const auto reply = stream.poll("1", kForLong);
  stream.settle();
  CHECK_FALSE(reply->answered());
  stream.bring("a");
  CHECK_FALSE(reply->answered());  // the run's thread tells nobody
  stream.settle();
  CHECK(stream.only_answer()["result"]["chunk"]["delta"] == "a");
  stream.poll("2", kForLong);
  stream.peer->sent.clear();
  stream.end();
  stream.settle();
  CHECK(stream.only_answer()["result"]["chunk"] == Json{{"seq", 1}, {"delta", ""}, {"end", true}});
  CHECK(stream.events == std::vector<std::string>{"finished"});
}

TEST_CASE("a poll that has waited in vain is told so, and the stream goes on") {
  PolledStream stream;
  const auto reply = stream.poll("1", kShortly);
  CHECK(stream.run_until([&] { return reply->answered(); }));
  CHECK(stream.only_answer()["result"]["chunk"] == Json{{"seq", 0}, {"delta", ""}});
  stream.bring("a");
  stream.settle();
  CHECK(stream.polled()["result"]["chunk"] == Json{{"seq", 0}, {"delta", "a"}});
}

TEST_CASE("of two polls that wait only the newer one does so: the other is answered with nothing") {
  PolledStream stream;
  const auto older = stream.poll("1", kForLong);
  const auto newer = stream.poll("2", kForLong);
  CHECK(older->answered());
  CHECK_FALSE(newer->answered());
  CHECK(stream.only_answer()["id"] == 1);
  CHECK(stream.only_answer()["result"]["chunk"] == Json{{"seq", 0}, {"delta", ""}});
  stream.peer->sent.clear();
  stream.bring("a");
  stream.settle();
  CHECK(stream.only_answer()["id"] == 2);
  CHECK(stream.only_answer()["result"]["chunk"]["delta"] == "a");
}

TEST_CASE("each poll has the text of one entry of a batch") {
  PolledStream stream;
  stream.bring("a");
  stream.bring("x", 1);
  stream.bring("b");
  stream.bring("y", 1);
  CHECK(stream.polled()["result"]["chunk"] == Json{{"seq", 0}, {"delta", "ab"}});
  CHECK(stream.polled()["result"]["chunk"] == Json{{"seq", 1}, {"batch", 1}, {"delta", "xy"}});
  stream.end();
  CHECK(stream.polled()["result"]["chunk"]["end"] == true);
}

TEST_CASE("where to poll is told with the first token, with the end, or when patience is over, and once") {
  PolledStream stream;
  const auto reply = std::make_shared<Reply>(*stream.peer, "0");
  SECTION("token") {
    stream.reader->announce(*reply, "there", kForLong);
    CHECK(stream.peer->sent.empty());
    stream.bring("a");
    stream.settle();
  }
  SECTION("end") {
    stream.reader->announce(*reply, "there", kForLong);
    stream.end();
    stream.settle();
  }
  SECTION("patience") {
    stream.reader->announce(*reply, "there", kShortly);
    CHECK(stream.run_until([&] { return reply->answered(); }));
  }
  SECTION("a poll, which is answered behind it") {
    stream.reader->announce(*reply, "there", kForLong);
    stream.poll("1");
    REQUIRE(stream.peer->sent.size() == 2);
    CHECK(Json::parse(stream.peer->sent[1])["id"] == 1);
    stream.peer->sent.pop_back();
  }
  stream.bring("b");
  stream.settle();
  CHECK(stream.peer->sent == std::vector<std::string>{"there"});
}

TEST_CASE("a run that fails at once answers its request with the error, and nobody need poll") {
  PolledStream stream;
  const auto reply = std::make_shared<Reply>(*stream.peer, "7");
  stream.reader->announce(*reply, "there", kForLong);
  stream.fail();
  stream.settle();
  const Json error = stream.only_answer();
  CHECK(error["id"] == 7);
  CHECK(error["error"]["code"] == 4001);
  CHECK(stream.events == std::vector<std::string>{"finished"});
}

TEST_CASE("a run that has brought something before it fails is polled: first the text, then the error") {
  PolledStream stream;
  const auto reply = std::make_shared<Reply>(*stream.peer, "7");
  stream.reader->announce(*reply, "there", kForLong);
  stream.bring("a");
  stream.fail();
  stream.settle();
  CHECK(stream.peer->sent == std::vector<std::string>{"there"});
  CHECK(stream.polled("1")["result"] == Json{{"chunk", {{"seq", 0}, {"delta", "a"}}}});
  CHECK(stream.events.empty());
  const Json error = stream.polled("2");
  CHECK(error["id"] == 2);
  CHECK(error["error"]["code"] == 4001);
  CHECK(stream.events == std::vector<std::string>{"finished"});
}

TEST_CASE("a poll of a run that waits is told its newest place in the queue, each once") {
  auto options = usual_limits<TokenStream::Options>();
  options.tell_position = true;
  PolledStream stream(usual_limits<PollReader::Options>(), options);
  stream.reader->stream()->on_queued(3);
  stream.reader->stream()->on_queued(2);
  stream.settle();
  CHECK(stream.polled()["result"] == Json{{"queue_position", 2}});
  CHECK(stream.polled()["result"]["chunk"] == Json{{"seq", 0}, {"delta", ""}});
  stream.peer->sent.clear();
  stream.poll("1", kForLong);
  stream.reader->stream()->on_queued(1);
  stream.settle();
  CHECK(stream.only_answer()["result"] == Json{{"queue_position", 1}});
  stream.reader->stream()->on_begun(std::nullopt);
  stream.settle();
  CHECK(stream.polled()["result"] == Json{{"queue_position", 0}});
}

TEST_CASE("a poll that gets text is told no place in the queue any more, nor is the next one") {
  auto options = usual_limits<TokenStream::Options>();
  options.tell_position = true;
  PolledStream stream(usual_limits<PollReader::Options>(), options);
  stream.reader->stream()->on_queued(1);
  stream.settle();
  stream.bring("a");
  CHECK(stream.polled()["result"]["chunk"]["delta"] == "a");
  CHECK(stream.polled()["result"]["chunk"] == Json{{"seq", 1}, {"delta", ""}});
}

TEST_CASE("a stream that nobody asks for is discarded behind its first token, and who aborts its run hears first") {
  PolledStream stream(expiring_shortly());
  stream.bring("a");
  CHECK(stream.run_until([&] { return stream.is_finished(); }));
  CHECK(stream.events == std::vector<std::string>{"expired", "finished"});
  CHECK(stream.peer->sent.empty());
  stream.loop.restart();
  stream.loop.run();
  CHECK(stream.events.size() == 2);
}

TEST_CASE("the end of a run that has brought no text is discarded, too, when nobody asks for it") {
  PolledStream stream(expiring_shortly());
  stream.end();
  CHECK(stream.run_until([&] { return stream.is_finished(); }));
  CHECK(stream.events == std::vector<std::string>{"expired", "finished"});
}

TEST_CASE("a stream in which nothing waits is not discarded, however long nobody asks") {
  PolledStream stream(expiring_shortly());
  stream.loop.restart();
  stream.loop.run();  // to its end: no time is waited for
  stream.bring("a");
  CHECK(stream.polled()["result"]["chunk"]["delta"] == "a");
  stream.loop.restart();
  stream.loop.run();
  CHECK(stream.events.empty());
  stream.bring("b");
  CHECK(stream.run_until([&] { return stream.is_finished(); }));
  CHECK(stream.events == std::vector<std::string>{"expired", "finished"});
}

TEST_CASE("what comes while the client that waits has gone is kept for its next poll") {
  PolledStream stream;
  const auto lost = stream.poll("1", kForLong);
  stream.peer->close();
  stream.bring("a");
  stream.settle();
  CHECK(stream.peer->sent.empty());
  stream.peer = std::make_shared<FakePeer>(TransportKind::kHttp);
  CHECK(stream.polled()["result"]["chunk"] == Json{{"seq", 0}, {"delta", "a"}});
  stream.end();
  CHECK(stream.polled()["result"]["chunk"] == Json{{"seq", 1}, {"delta", ""}, {"end", true}});
}

TEST_CASE("an end that came to a client which has gone is told to its next poll") {
  PolledStream stream;
  const auto lost = stream.poll("1", kForLong);
  stream.peer->close();
  stream.end();
  stream.settle();
  CHECK(stream.events.empty());
  stream.peer = std::make_shared<FakePeer>(TransportKind::kHttp);
  CHECK(stream.polled()["result"]["chunk"] == Json{{"seq", 0}, {"delta", ""}, {"end", true}});
  CHECK(stream.events == std::vector<std::string>{"finished"});
}

TEST_CASE("no answer is longer than its transport can carry, and all of the text comes in order") {
  constexpr std::size_t kMost = 512;
  PolledStream stream;
  stream.peer = std::make_shared<FakePeer>(
      PeerFacts{.transport = TransportKind::kUdp, .address = "test", .max_message_bytes = kMost});
  std::string text;
  for (int at = 0; at < 500; ++at) text += at % 2 == 0 ? "\n\"\x01" : "\xF0\x9F\x98\x80";
  stream.bring(text);
  stream.end();
  std::string polled;
  std::uint64_t seq = 0;
  for (Json chunk; !chunk.contains("end");) {
    const Json answer = stream.polled("\"id\"");
    REQUIRE(answer.contains("result"));
    CHECK(stream.peer->sent[0].size() <= kMost);
    chunk = answer["result"]["chunk"];
    CHECK(chunk["seq"] == seq++);
    polled += chunk["delta"].get<std::string>();
  }
  CHECK(polled == text);
}

TEST_CASE("where a message is shorter than what stands around a text, little of the text is taken, and not all of it") {
  PolledStream stream;
  stream.peer = std::make_shared<FakePeer>(
      PeerFacts{.transport = TransportKind::kUdp, .address = "test", .max_message_bytes = 64});
  stream.bring(std::string(10'000, 'x'));
  stream.polled("1");
  CHECK(stream.reader->stream()->bytes_waiting() > 9'000);
}

TEST_CASE("an end that a transport cannot carry is refused there each time, and waits for a poll over another one") {
  PolledStream stream;
  const auto wide = stream.peer;
  stream.peer = std::make_shared<FakePeer>(
      PeerFacts{.transport = TransportKind::kUdp, .address = "test", .max_message_bytes = 512});
  stream.bring("a");
  CallOutcome outcome;
  outcome.values = Json{{"long", std::string(1000, 'x')}};
  stream.end(std::move(outcome));
  CHECK(stream.polled()["result"] == Json{{"chunk", {{"seq", 0}, {"delta", "a"}}}});
  for (int times = 0; times < 2; ++times) {
    const Json error = stream.polled()["error"];
    CHECK(error["code"] == 4006);
    CHECK(error["data"]["limit"] == 512);
    CHECK(error["data"]["bytes"].get<int>() > 1000);
  }
  CHECK(stream.events.empty());
  stream.peer = wide;
  const Json end = stream.polled()["result"];
  CHECK(end["chunk"] == Json{{"seq", 1}, {"delta", ""}, {"end", true}});
  CHECK(end["long"] == std::string(1000, 'x'));
  CHECK(stream.events == std::vector<std::string>{"finished"});
}

TEST_CASE("values that are longer than an answer may be end the stream with error 4006, behind its text") {
  Counts counts;
  PollReader::Options options = usual_limits<PollReader::Options>();
  options.values.most_bytes = 50;
  options.values.counts = &counts;
  PolledStream stream(options);
  stream.bring("a");
  const std::vector<float> values(100, 0.25F);
  stream.reader->stream()->on_rows({"logits", "logits", "num_tokens", "vocab_size", values.data(), 1, values.size()});
  stream.end();
  CHECK(stream.polled()["result"] == Json{{"chunk", {{"seq", 0}, {"delta", "a"}}}});
  const Json error = stream.polled()["error"];
  CHECK(error["code"] == 4006);
  CHECK(error["data"]["limit"] == 50);
  CHECK(stream.events == std::vector<std::string>{"finished"});
  CHECK(counts.reached.at(static_cast<std::size_t>(Limit::kReplyBytes)) == 1);
}

TEST_CASE("a poll that comes while many values are being written waits for them") {
  PolledStream stream;
  stream.end_with_many_values();
  const auto reply = stream.poll("1", kForLong);
  CHECK_FALSE(reply->answered());
  REQUIRE(stream.run_until([&] { return reply->answered(); }));
  const Json result = stream.only_answer()["result"];
  CHECK(result["chunk"] == Json{{"seq", 0}, {"delta", ""}, {"end", true}});
  CHECK(result["logits"]["logits"].size() == kManyValues);
}

TEST_CASE("a stream may be forgotten while its values are being written, and nobody is told of them") {
  PolledStream stream;
  stream.end_with_many_values();
  stream.settle();  // they are being written, or have been
  const std::weak_ptr<PollReader> weak = stream.reader;
  stream.reader.reset();
  CHECK(weak.expired());
  stream.loop.restart();
  stream.loop.run();  // until the thread has done its work
  CHECK(stream.peer->sent.empty());
  CHECK(stream.events.empty());
}

TEST_CASE("who asks for a stream that there is not, or for chunks that are gone, is told error 4003") {
  CHECK(stream_not_found().code() == ErrorCode::kStreamNotFound);
  CHECK(std::string(stream_not_found().what()) == "stream session not exists or expired");
  CHECK(stream_not_found().data() == Json::object());
  const RpcError gone = chunks_not_found(3, 7);
  CHECK(gone.code() == ErrorCode::kStreamNotFound);
  CHECK(std::string(gone.what()) == stream_not_found().what());
  CHECK(gone.data() == Json{{"from_seq", 3}, {"first_seq", 7}});
}
