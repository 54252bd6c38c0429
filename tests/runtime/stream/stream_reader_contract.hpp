// What stream/stream_reader.hpp promises, held against a kind of reader: `One` is an OfOneReader with that reader and
// with heard(), which says what its client has been told.
#pragma once

#include "stream/stream_reader.hpp"
#include "stream/token_stream.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/usual_limits.hpp"

#include <rkllm_mcp/errors.hpp>

#include <asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

namespace rkllm_mcp::test {

// A reader, the run that its stream is of, and the loop, which runs only inside settle().
class OfOneReader {
 public:
  struct Options {
    TokenStream::Options stream = usual_limits<TokenStream::Options>();
    std::chrono::milliseconds expiry = std::chrono::minutes(1);  // of a stream that nobody asks for
  };
  struct Heard {
    std::string text;
    std::size_t ends = 0;
    std::optional<ErrorCode> error;
    bool aborted = false;
  };

  OfOneReader() = default;
  OfOneReader(const OfOneReader&) = delete;
  OfOneReader& operator=(const OfOneReader&) = delete;
  virtual ~OfOneReader() = default;

  virtual Heard heard() const = 0;
  virtual void break_next() = 0;  // the next time that the client is told something, that throws
  virtual void leave() = 0;       // the client goes; the reader is told
  // The client takes nothing any more. False for readers that do not wait for it.
  virtual bool block() { return false; }

  void settle() {
    do loop.restart();
    while (loop.poll() > 0 || ask());
  }

  // The run.
  CallObserver& run() { return *stream_; }
  void bring(const std::string& text) { run().on_token(0, text, 1); }
  void end(CallOutcome outcome = {}) {
    outcome.state = "DONE";
    if (!outcome.error) outcome.result = Json{{"status", 0}};
    run().on_done(std::move(outcome));
  }

  asio::io_context loop;
  std::shared_ptr<StreamReader> reader;
  std::size_t finished = 0;
  std::size_t ends_as_it_finished = 0;

 protected:
  void begin(std::shared_ptr<StreamReader> made) {
    reader = std::move(made);
    stream_ = reader->stream();
    reader->on_finished([this] {
      ++finished;
      ends_as_it_finished = heard().ends;
    });
  }
  // For readers that say something only when they are asked. True if it has said something at once.
  virtual bool ask() { return false; }

 private:
  std::shared_ptr<TokenStream> stream_;
};

// So many tokens, each different, as one text.
inline std::string token_at(std::size_t at) { return std::to_string(at) + " "; }
inline std::string first_tokens(std::size_t count) {
  std::string text;
  for (std::size_t at = 0; at < count; ++at) text += token_at(at);
  return text;
}

namespace stream_reader_contract {

template <class One>
void tells_every_token_in_order_and_one_end() {
  OfOneReader::Options options;
  options.stream.tell_position = true;
  One one(options);
  one.settle();
  for (std::size_t at = 0; at < 10; ++at) {
    one.bring(token_at(at));
    if (at % 3 == 0) one.settle();
  }
  one.settle();
  CHECK(one.heard().ends == 0);
  CHECK(one.finished == 0);
  one.bring(token_at(10));
  const auto before = one.heard().text;
  one.end();
  CHECK(one.heard().text == before);  // nothing is told from inside the run's calls
  CHECK(one.finished == 0);
  one.settle();
  one.run().on_queued(0);  // wakes the reader, as what came while it took the last token would have done
  one.settle();
  CHECK(one.heard().text == first_tokens(11));
  CHECK(one.heard().ends == 1);
  CHECK_FALSE(one.heard().error);
  CHECK_FALSE(one.heard().aborted);
  CHECK(one.finished == 1);
  CHECK(one.ends_as_it_finished == 1);
}

// What does not fit waits until the reader has taken some, and none of it is lost.
template <class One>
void loses_nothing_of_a_run_that_is_faster() {
  constexpr std::size_t kTokens = 3000;
  OfOneReader::Options options;
  options.stream.buffer_bytes = 64;
  One one(options);
  std::thread runs([&one] {
    for (std::size_t at = 0; at < kTokens; ++at) one.bring(token_at(at));
    one.end();
  });
  const bool has_ended = eventually([&] {
    one.settle();
    return one.finished > 0;
  });
  if (!has_ended) one.reader->stream()->stop();
  runs.join();
  CHECK(has_ended);
  CHECK(one.heard().text == first_tokens(kTokens));
  CHECK(one.heard().ends == 1);
  CHECK_FALSE(one.heard().error);
}

template <class One>
void tells_of_an_error_behind_what_came_before() {
  One one;
  one.bring("before");
  one.end({.error = std::make_exception_ptr(CallFailed("run", -1))});
  one.settle();
  CHECK(one.heard().text == "before");
  CHECK(one.heard().ends == 1);
  CHECK(one.heard().error == ErrorCode::kCallFailed);
  CHECK(one.finished == 1);
  CHECK(one.ends_as_it_finished == 1);
}

template <class One>
void tells_of_an_aborted_run_what_came_before() {
  One one;
  one.bring("before");
  one.settle();
  one.reader->stream()->stop();
  CHECK(one.run().wants_to_stop());
  one.bring(" after");  // a run may bring one more as it is stopped
  CallOutcome outcome;
  outcome.aborted = true;
  one.end(std::move(outcome));
  one.settle();
  CHECK(one.heard().text == "before after");
  CHECK(one.heard().ends == 1);
  CHECK(one.heard().aborted);
  CHECK_FALSE(one.heard().error);
  CHECK(one.finished == 1);
}

// As when nobody reads: what was taken comes first.
template <class One>
void tells_that_a_stream_was_full() {
  OfOneReader::Options options;
  options.stream.buffer_bytes = 64;
  options.stream.when_full = TokenStream::WhenFull::kStop;
  One one(options);
  for (std::size_t at = 0; at < 1000 && !one.run().wants_to_stop(); ++at) one.bring(token_at(at));
  CHECK(one.run().wants_to_stop());
  CallOutcome outcome;
  outcome.aborted = true;
  one.end(std::move(outcome));
  one.settle();
  const auto heard = one.heard();
  CHECK_FALSE(heard.text.empty());
  CHECK(first_tokens(1000).starts_with(heard.text));
  CHECK(heard.ends == 1);
  CHECK(heard.error == ErrorCode::kTooLarge);
  CHECK(one.finished == 1);
}

template <class One>
void lets_the_run_of_a_client_that_has_gone_end() {
  OfOneReader::Options options;
  options.stream.buffer_bytes = 64;
  options.stream.stall = std::chrono::minutes(10);  // which ends the run of a client that is there
  options.expiry = std::chrono::milliseconds(1);
  One one(options);
  one.bring("before");
  one.settle();
  const bool is_blocked = one.block();
  std::thread runs([&one] {
    for (std::size_t at = 0; at < 1000 && !one.run().wants_to_stop(); ++at) one.bring(token_at(at));
    one.end();
  });
  if (is_blocked) {
    CHECK(eventually([&] {
      one.settle();
      return one.reader->stream()->bytes_waiting() > 64 - token_at(1000).size() || one.run().wants_to_stop();
    }));
  }
  one.leave();
  const bool has_ended = eventually([&] {
    one.settle();
    return one.finished > 0;
  });
  if (!has_ended) one.reader->stream()->stop();
  runs.join();
  CHECK(has_ended);
  one.settle();
  CHECK(one.finished == 1);
}

template <class One>
void ends_with_the_fault_that_telling_met() {
  One one;
  one.settle();
  one.break_next();
  one.bring("never told");
  CHECK_THROWS_AS(one.settle(), std::logic_error);
  CHECK(one.run().wants_to_stop());
  CallOutcome outcome;
  outcome.aborted = true;
  one.end(std::move(outcome));
  one.settle();
  CHECK(one.heard().text.empty());
  CHECK(one.heard().error == ErrorCode::kInternalError);
  CHECK(one.finished == 1);
}

template <class One>
void leaves_its_stream_to_a_run_that_goes_on() {
  One one;
  one.bring("before");
  one.reader.reset();
  one.bring(" after");
  one.end();
  one.settle();
  CHECK(one.heard().text.empty());
  CHECK(one.heard().ends == 0);
  CHECK(one.finished == 0);
}

// With hold(), after which the client takes nothing, and go_on().
template <class One>
void tells_nothing_while_it_is_held() {
  One one;
  one.bring(token_at(0));
  one.settle();
  one.hold();
  const auto before = one.heard();
  one.settle();
  for (std::size_t at = 1; at < 20; ++at) one.bring(token_at(at));
  one.settle();
  CHECK(one.heard().text == before.text);
  one.end();
  one.settle();
  CHECK(one.heard().text == before.text);
  CHECK(one.heard().ends == 0);
  CHECK(one.finished == 0);
  one.go_on();
  one.settle();
  CHECK(one.heard().text == first_tokens(20));
  CHECK(one.heard().ends == 1);
  CHECK(one.finished == 1);
}

}  // namespace stream_reader_contract
}  // namespace rkllm_mcp::test
