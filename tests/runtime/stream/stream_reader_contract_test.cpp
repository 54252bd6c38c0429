// What stream/stream_reader.hpp promises (StreamReader), held against each kind of reader of the runtime. That of
// leased calls (RunReader) is held to it in tests/server/models/run_reader_test.cpp.
#include "stream_reader_contract.hpp"

#include "call/poll_reader.hpp"
#include "call/push_reader.hpp"
#include "jsonrpc/envelope.hpp"
#include "runtime/fake_backend.hpp"
#include "stream/collect_reader.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace rkllm_mcp::test {
namespace {

// Whose client gets messages with chunks.
class ToldInChunks : public OfOneReader {
 public:
  Heard heard() const override {
    Heard heard;
    for (const std::string& text : peer->sent) {
      const Json message = Json::parse(text);
      if (message.contains("error")) {
        ++heard.ends;
        heard.error = static_cast<ErrorCode>(message["error"]["code"].get<int>());
        continue;
      }
      const Json& result = message["result"];
      heard.text += result["chunk"]["delta"].get<std::string>();
      if (!result["chunk"].value("end", false)) continue;
      ++heard.ends;
      heard.aborted = result.value("aborted", false);
    }
    return heard;
  }
  void break_next() override { peer->breaks = true; }
  void leave() override {
    peer->close();
    reader->client_gone();
  }

  std::shared_ptr<FakePeer> peer = std::make_shared<FakePeer>();
};

class ToldAsItComes : public ToldInChunks {
 public:
  explicit ToldAsItComes(const Options& options = {}) {
    const auto reply = std::make_shared<Reply>(*peer, "1");
    begin(StreamReader::make<PushReader>(loop, options.stream, *reply, ChunkWriter::replies("1", "run"),
                                         PushReader::Options{}));
  }

  bool block() override {
    hold();
    return true;
  }
  void hold() { peer->takes = false; }
  void go_on() { peer->take_again(); }
};

class ToldWhenAsked : public ToldInChunks {
 public:
  explicit ToldWhenAsked(const Options& options = {}) {
    PollReader::Options how;
    how.expiry = options.expiry;
    auto polled = StreamReader::make<PollReader>(loop, options.stream, loop, ChunkWriter::replies("0", "run"), how,
                                                 [this] { run().stop(); });
    reader_ = polled;
    begin(std::move(polled));
  }

  bool block() override {
    hold();
    return true;
  }
  // One poll waits already, as it may: it is answered with nothing.
  void hold() {
    asks_ = false;
    if (const auto polled = reader_.lock(); polled && poll_) polled->poll(*std::exchange(poll_, nullptr), {});
  }
  void go_on() { asks_ = true; }

 protected:
  bool ask() override {
    const auto polled = reader_.lock();
    if (!asks_ || !polled || finished > 0 || (poll_ && !poll_->answered())) return false;
    poll_ = std::make_shared<Reply>(*peer, std::to_string(++polls_));
    polled->poll(*poll_, std::chrono::minutes(1));
    return poll_->answered();
  }

 private:
  std::weak_ptr<PollReader> reader_;
  std::shared_ptr<Reply> poll_;
  bool asks_ = true;
  int polls_ = 0;
};

class ToldAtTheEnd : public OfOneReader {
 public:
  explicit ToldAtTheEnd(const Options& options = {}) {
    begin(StreamReader::make<CollectReader>(
        loop, options.stream, CollectReader::Options{},
        [this](Collected collected) {
          if (!collected.texts.empty()) heard_.text += collected.texts.front();
          ++heard_.ends;
          heard_.aborted = collected.outcome.aborted;
          if (collected.outcome.error) heard_.error = as_rpc_error(collected.outcome.error).code();
        },
        [this](const CollectReader::Step&) {
          if (std::exchange(breaks_, false)) throw std::logic_error("a fault");
        }));
  }

  Heard heard() const override { return heard_; }
  void break_next() override { breaks_ = true; }
  void leave() override { reader->client_gone(); }

 private:
  Heard heard_;
  bool breaks_ = false;
};

}  // namespace

#define EVERY_READER ToldAsItComes, ToldWhenAsked, ToldAtTheEnd

TEMPLATE_TEST_CASE("a reader tells every token once and in order, on the loop, then one end, and then that it is done",
                   "", EVERY_READER) {
  stream_reader_contract::tells_every_token_in_order_and_one_end<TestType>();
}

TEMPLATE_TEST_CASE("a reader loses nothing of a run that is faster than it, and waits for room", "", EVERY_READER) {
  stream_reader_contract::loses_nothing_of_a_run_that_is_faster<TestType>();
}

TEMPLATE_TEST_CASE("a reader tells of a run's error behind what came before it, once", "", EVERY_READER) {
  stream_reader_contract::tells_of_an_error_behind_what_came_before<TestType>();
}

TEMPLATE_TEST_CASE("a reader tells all that a run has brought which was aborted, and that it was", "", EVERY_READER) {
  stream_reader_contract::tells_of_an_aborted_run_what_came_before<TestType>();
}

TEMPLATE_TEST_CASE("a reader tells that its stream was full, behind what had found room", "", EVERY_READER) {
  stream_reader_contract::tells_that_a_stream_was_full<TestType>();
}

TEMPLATE_TEST_CASE("a run whose client has gone ends, and its reader is done once", "", EVERY_READER) {
  stream_reader_contract::lets_the_run_of_a_client_that_has_gone_end<TestType>();
}

TEMPLATE_TEST_CASE("a fault in telling stops the run and is told, and nothing comes after it", "", EVERY_READER) {
  stream_reader_contract::ends_with_the_fault_that_telling_met<TestType>();
}

TEMPLATE_TEST_CASE("a run goes on into a stream whose reader is gone, and nobody is told", "", EVERY_READER) {
  stream_reader_contract::leaves_its_stream_to_a_run_that_goes_on<TestType>();
}

TEMPLATE_TEST_CASE("a reader whose client takes nothing tells nothing, and later all of it", "", ToldAsItComes,
                   ToldWhenAsked) {
  stream_reader_contract::tells_nothing_while_it_is_held<TestType>();
}

}  // namespace rkllm_mcp::test
