// What stream/stream_reader.hpp promises, held against the reader of leased calls.
#include "models/leased_calls.hpp"

#include "jsonrpc/envelope.hpp"
#include "runtime/stream/stream_reader_contract.hpp"
#include "support/catch.hpp"

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace rkllm_mcp::test {
namespace {

class ToldToken : public OfOneReader {
 public:
  explicit ToldToken(const Options& options = {}) {
    auto made = StreamReader::make<RunReader>(
        loop, options.stream,
        [this](std::string_view text) {
          if (std::exchange(breaks_, false)) throw std::logic_error("a fault");
          heard_.text += text;
        },
        [this](const CallOutcome& outcome, std::uint64_t) {
          ++heard_.ends;
          heard_.aborted = outcome.aborted;
          if (outcome.error) heard_.error = as_rpc_error(outcome.error).code();
        });
    reader_ = made;
    begin(std::move(made));
  }

  Heard heard() const override { return heard_; }
  void break_next() override { breaks_ = true; }
  void leave() override { reader->client_gone(); }
  void hold() { reader_.lock()->hold(); }
  void go_on() {
    reader_.lock()->go_on();
    reader_.lock()->look();
  }

 private:
  std::weak_ptr<RunReader> reader_;
  Heard heard_;
  bool breaks_ = false;
};

}  // namespace

TEST_CASE("the reader of leased calls tells every token once and in order, then one end, and then that it is done") {
  stream_reader_contract::tells_every_token_in_order_and_one_end<ToldToken>();
}

TEST_CASE("the reader of leased calls loses nothing of a run that is faster than it, and waits for room") {
  stream_reader_contract::loses_nothing_of_a_run_that_is_faster<ToldToken>();
}

TEST_CASE("the reader of leased calls tells how a run has ended, behind what came before it") {
  SECTION("with an error") { stream_reader_contract::tells_of_an_error_behind_what_came_before<ToldToken>(); }
  SECTION("aborted") { stream_reader_contract::tells_of_an_aborted_run_what_came_before<ToldToken>(); }
  SECTION("without room") { stream_reader_contract::tells_that_a_stream_was_full<ToldToken>(); }
  SECTION("with a fault") { stream_reader_contract::ends_with_the_fault_that_telling_met<ToldToken>(); }
}

TEST_CASE("a run in a lease ends without a client, as without its reader") {
  SECTION("without a client") { stream_reader_contract::lets_the_run_of_a_client_that_has_gone_end<ToldToken>(); }
  SECTION("without its reader") { stream_reader_contract::leaves_its_stream_to_a_run_that_goes_on<ToldToken>(); }
}

TEST_CASE("the reader of leased calls tells nothing while it is held, and later all of it") {
  stream_reader_contract::tells_nothing_while_it_is_held<ToldToken>();
}

}  // namespace rkllm_mcp::test
