#include "dispatch/http_sessions.hpp"

#include "runtime/kept_answer.hpp"
#include "simulation/sim_bench.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;
using namespace std::chrono_literals;

namespace {

// A session's streams, on a clock that stands still until the test moves it on.
struct StreamsOfSession {
  // A stream that answers a request, as long as the test keeps it, with the exchange that carries it.
  struct Answer {
    std::shared_ptr<Peer> kept;
    EventStream* stream;
    std::shared_ptr<KeptAnswer> exchange = std::make_shared<KeptAnswer>();

    std::string id() const { return stream->id(); }
    void say(const std::string& message) const { stream->send(message); }
    void end() const { stream->last("{}", std::nullopt); }
  };

  Answer begin() {
    EventStream& stream = streams->add({});
    Answer answer{stream.shared_from_this(), &stream};
    stream.begin(*answer.exchange);
    return answer;
  }
  // One that has ended, and to which a client can come back.
  std::string ended() {
    const Answer answer = begin();
    answer.say("1");
    answer.end();
    return answer.id();
  }
  std::size_t count_of(const std::vector<std::string>& ids) const {
    std::size_t found = 0;
    for (const auto& id : ids) found += streams->find(id) != nullptr ? 1 : 0;
    return found;
  }

  simulation::SimBench bench;
  const MemoryBudget memory{1'000'000};
  std::unique_ptr<SessionStreams> streams = std::make_unique<SessionStreams>(bench.loop(), memory);
};

}  // namespace

TEST_CASE("a session has a standing stream from the beginning, that is no answer") {
  const StreamsOfSession session;
  EventStream& standing = session.streams->standing();
  CHECK(session.streams->find(standing.id()) == &standing);
  CHECK(session.streams->in_progress() == 0);
  CHECK_FALSE(session.streams->is_any_attached());
  CHECK(session.streams->find("") == nullptr);
  CHECK(session.streams->find("gr\xC3\xBC\xC3\x9F") == nullptr);
}

TEST_CASE("each answer has a stream of its own, that is found by an id which no other has ever had") {
  StreamsOfSession session;
  std::set<std::string> ids{session.streams->standing().id()};
  for (int i = 0; i < 20; ++i) {
    const auto answer = session.begin();
    CHECK(session.streams->find(answer.id()) == answer.stream);
    CHECK(ids.insert(answer.id()).second);
    answer.end();
  }
}

TEST_CASE("the id and the memory of a stream are the session's, whatever it was asked for with") {
  StreamsOfSession session;
  EventStream::Options options;
  options.id = "mine";
  EventStream& stream = session.streams->add(std::move(options));
  CHECK(session.streams->find("mine") == nullptr);
  stream.send("12345");
  CHECK(session.memory.used() == 5);
  session.streams->standing().send("678");
  CHECK(session.memory.used() == 8);
}

TEST_CASE("a stream is in progress until its request has been answered") {
  StreamsOfSession session;
  const auto plain = session.begin();
  const auto of_events = session.begin();
  of_events.say("1");
  CHECK(session.streams->in_progress() == 2);
  plain.end();
  CHECK(session.streams->in_progress() == 1);
  of_events.end();
  CHECK(session.streams->in_progress() == 0);
}

TEST_CASE("a stream that is given up is in progress no longer, and nothing of it is left") {
  StreamsOfSession session;
  const auto with_events = session.begin();
  const auto without = session.begin();
  with_events.say("1");
  with_events.stream->abandon();
  without.stream->refuse();  // there was not even memory for an answer
  session.bench.pass(0s);
  CHECK(session.streams->in_progress() == 0);
  CHECK(session.streams->find(with_events.id()) == nullptr);
  CHECK(session.streams->find(without.id()) == nullptr);
}

TEST_CASE("a stream that is given up has ended also where somebody who hears of it fails") {
  StreamsOfSession session;
  const auto answer = session.begin();
  bool was_in_progress = true;
  answer.stream->when_closed([&] {
    was_in_progress = session.streams->in_progress() != 0;
    throw std::bad_alloc();
  });
  answer.stream->abandon();
  CHECK_THROWS_AS(session.bench.pass(0s), std::bad_alloc);
  CHECK_FALSE(was_in_progress);
  CHECK(session.streams->in_progress() == 0);
}

TEST_CASE("a stream that nobody keeps may be given up as well") {
  StreamsOfSession session;
  EventStream& stream = session.streams->add({});
  int closed = 0;
  stream.when_closed([&closed] { ++closed; });
  stream.abandon();
  session.bench.pass(0s);
  CHECK(closed == 1);
  CHECK(session.streams->in_progress() == 0);
}

TEST_CASE("an answer that there is no memory for is not kept, and its stream has ended all the same") {
  StreamsOfSession session;
  const auto answer = session.begin();
  answer.say("1");
  answer.exchange->close();
  MemoryShare others(session.memory);
  others.set(session.memory.limit());
  answer.stream->last(std::string(MemoryShare::kGuaranteed + 1, 'x'), std::nullopt);
  session.bench.pass(0s);
  CHECK(answer.stream->closed());
  CHECK(answer.stream->ended());
  CHECK(session.streams->find(answer.id()) == nullptr);
}

TEST_CASE("where one plain answer was all, nothing is left, and an answer of events can be come back to") {
  StreamsOfSession session;
  const auto plain = session.begin();
  plain.end();
  CHECK(plain.exchange->answer);
  CHECK(session.streams->find(plain.id()) == nullptr);
  const std::string of_events = session.ended();
  REQUIRE(session.streams->find(of_events) != nullptr);
  CHECK(session.streams->find(of_events)->has_after(0));
}

TEST_CASE("of the streams that have ended so many are kept, those in progress all") {
  StreamsOfSession session;
  const auto first = session.begin();
  const auto last = session.begin();
  std::vector<std::string> ended;
  for (std::size_t i = 0; i < SessionStreams::kEndedStreams; ++i) ended.push_back(session.ended());
  CHECK(session.count_of(ended) == SessionStreams::kEndedStreams);
  ended.push_back(session.ended());
  CHECK(session.streams->find(ended.front()) == nullptr);
  CHECK(session.count_of(ended) == SessionStreams::kEndedStreams);
  CHECK(session.streams->in_progress() == 2);
  CHECK(session.count_of({first.id(), last.id()}) == 2);
}

TEST_CASE("however many streams end together, no more of them are kept, and of those the last") {
  StreamsOfSession session;
  std::vector<StreamsOfSession::Answer> answers;
  for (std::size_t i = 0; i < 3 * SessionStreams::kEndedStreams; ++i) answers.push_back(session.begin());
  std::vector<std::string> ended;
  for (auto answer = answers.rbegin(); answer != answers.rend(); ++answer) {
    answer->say("1");
    answer->end();
    ended.push_back(answer->id());
  }
  CHECK(session.count_of(ended) == SessionStreams::kEndedStreams);
  CHECK(session.streams->find(ended.back()) != nullptr);
  CHECK(session.streams->find(ended.front()) == nullptr);
}

TEST_CASE("a session is read while a client reads any of its streams") {
  StreamsOfSession session;
  const auto standing = std::make_shared<KeptAnswer>();
  const auto answer = session.begin();
  CHECK(session.streams->is_any_attached());
  session.streams->standing().begin(*standing);
  answer.end();
  CHECK(session.streams->is_any_attached());
  session.streams->standing().none();
  CHECK_FALSE(session.streams->is_any_attached());
}

TEST_CASE("the time when a session was last read is that of the stream that was read last") {
  StreamsOfSession session;
  const auto first = session.begin();
  const auto second = session.begin();
  first.say("1");
  second.say("1");
  session.bench.pass(10s);
  second.end();
  const auto then = Clock::now();
  CHECK(session.streams->last_detached() == then);
  session.bench.pass(10s);
  CHECK(session.streams->last_detached() == then);
  first.end();
  CHECK(session.streams->last_detached() == then + 10s);
  session.bench.pass(10s);
  session.streams->standing().begin(*first.exchange);
  session.streams->standing().none();
  CHECK(session.streams->last_detached() == then + 20s);
}

TEST_CASE("at the end of a session its streams are given up, also by those who keep one, and may end afterwards") {
  StreamsOfSession session;
  const auto answer = session.begin();
  answer.say("1");
  const auto standing = session.streams->standing().shared_from_this();
  session.streams.reset();
  CHECK(standing->closed());
  CHECK(answer.stream->closed());
  CHECK(session.memory.used() == 0);
  answer.end();
  CHECK_FALSE(answer.stream->is_attached());
}
