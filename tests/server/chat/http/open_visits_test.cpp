#include "chat/http/visit.hpp"

#include "runtime/kept_answer.hpp"
#include "support/catch.hpp"

#include <asio/io_context.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

struct OpenBench {
  OpenBench() { request.path = "/v1/embeddings"; }

  // Keeps something for a new visit; gives its number.
  std::uint64_t keep(std::shared_ptr<void> answering = {}) {
    exchanges.push_back(std::make_shared<test::KeptAnswer>());
    const auto visit = std::make_shared<Visit>(loop, rules, request, *exchanges.back(), MemoryShare());
    const std::uint64_t number = open->new_number();
    open->keep(number, *visit,
               {std::move(answering), [this](const TurnError& error) { given_up.emplace_back(error.what()); }});
    return number;
  }
  void settle() {
    loop.restart();
    loop.run();
  }

  asio::io_context loop;
  Visit::Rules rules;
  http::Request request;
  std::vector<std::shared_ptr<test::KeptAnswer>> exchanges;
  std::vector<std::string> given_up;
  std::unique_ptr<OpenVisits> open = std::make_unique<OpenVisits>(loop);
};

}  // namespace

TEST_CASE("what answers a visit is kept until it is let go, and not destroyed before the next callback") {
  OpenBench bench;
  auto answering = std::make_shared<int>();
  const std::weak_ptr<int> kept = answering;
  const std::uint64_t number = bench.keep(std::move(answering));
  CHECK(bench.open->has(number));
  CHECK(bench.open->size() == 1);
  bench.settle();
  CHECK_FALSE(kept.expired());
  bench.open->let_go(number);
  CHECK_FALSE(bench.open->has(number));
  CHECK_FALSE(kept.expired());  // a callback of its own may have said so
  bench.settle();
  CHECK(kept.expired());
  CHECK_FALSE(bench.open->has(number));
  CHECK(bench.given_up.empty());
}

TEST_CASE("what answers a visit ends when its client goes, and nothing else does") {
  OpenBench bench;
  auto answering = std::make_shared<int>();
  const std::weak_ptr<int> kept = answering;
  const std::uint64_t gone = bench.keep(std::move(answering));
  const std::uint64_t stays = bench.keep();
  bench.exchanges.front()->close();
  CHECK_FALSE(bench.open->has(gone));  // whatever was posted before, nothing is told to it
  bench.settle();
  CHECK(kept.expired());
  CHECK_FALSE(bench.open->has(gone));
  CHECK(bench.open->has(stays));
  CHECK(bench.given_up.empty());
}

TEST_CASE("letting go of what is not kept does nothing, and no number is given twice") {
  OpenBench bench;
  const std::uint64_t number = bench.keep();
  CHECK(bench.open->new_number() != number);
  bench.open->let_go(number + 100);
  bench.open->let_go(number);
  bench.open->let_go(number);
  bench.settle();
  CHECK(bench.open->size() == 0);
}

TEST_CASE("giving up all tells each, once, and keeps nothing") {
  OpenBench bench;
  bench.keep();
  bench.keep();
  bench.open->give_up_all(TurnError(ErrorKind::kNoRoom, "the server is ending"));
  CHECK(bench.given_up == std::vector<std::string>(2, "the server is ending"));
  CHECK(bench.open->size() == 0);
  bench.open->give_up_all(TurnError(ErrorKind::kNoRoom, "again"));
  CHECK(bench.given_up.size() == 2);
}

TEST_CASE("where nothing else is said of giving up, the visit is refused") {
  OpenBench bench;
  const auto exchange = std::make_shared<test::KeptAnswer>();
  const auto visit = std::make_shared<Visit>(bench.loop, bench.rules, bench.request, *exchange, MemoryShare());
  bench.open->keep(bench.open->new_number(), *visit, std::make_shared<int>());
  bench.open->give_up_all(TurnError(ErrorKind::kNoRoom, "the server is ending"));
  CHECK_THAT(exchange->answer.value().body, test::has_text("the server is ending"));
}

TEST_CASE("what has been let go is not given up any more, and what is let go before it is kept goes soon") {
  OpenBench bench;
  bench.open->let_go(bench.keep());
  bench.open->give_up_all(TurnError(ErrorKind::kNoRoom, "the server is ending"));
  CHECK(bench.given_up.empty());
  bench.open->let_go(bench.open->new_number() + 1);
  const std::uint64_t number = bench.keep();
  CHECK_FALSE(bench.open->has(number));
  bench.settle();
  CHECK_FALSE(bench.open->has(number));
  CHECK(bench.open->size() == 0);
}

// That nothing of it is touched is for the address sanitizer to say.
TEST_CASE("what was posted for visits, and clients that go, do nothing once the table has ended") {
  OpenBench bench;
  const std::uint64_t number = bench.keep();
  bench.open->let_go(number);
  bench.keep();
  bench.open.reset();
  bench.exchanges.back()->close();
  bench.settle();
  CHECK(bench.given_up.empty());
}
