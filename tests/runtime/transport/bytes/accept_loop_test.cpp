// On a clock that stands still, with a listening socket to which the test brings the clients.
#include "transport/bytes/accept_loop.hpp"

#include "simulation/sim_bench.hpp"
#include "support/catch.hpp"

#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace rkllm_mcp::test {
namespace {

// As much of a protocol of asio's as AcceptLoop knows; a socket is its number.
struct ScriptedProtocol {
  using socket = int;
  class acceptor {
   public:
    using Handler = std::function<void(const std::error_code&, int)>;

    explicit acceptor(asio::io_context& loop) : loop_(loop) {}
    bool is_open() const { return is_open_; }
    void async_accept(Handler handler) { waiting_ = std::move(handler); }
    void close(std::error_code&) {
      is_open_ = false;
      if (waiting_)
        asio::post(loop_, [handler = std::exchange(waiting_, nullptr)] { handler(asio::error::operation_aborted, 0); });
    }

    bool is_waiting() const { return static_cast<bool>(waiting_); }
    void come(int client) { std::exchange(waiting_, nullptr)({}, client); }
    void fail(const std::error_code& error) { std::exchange(waiting_, nullptr)(error, 0); }

   private:
    asio::io_context& loop_;
    bool is_open_ = true;
    Handler waiting_{};
  };
};

struct Door {
  Door() { accepting->accept_next(); }
  ~Door() {
    accepting->stop();
    bench.settle();
  }
  ScriptedProtocol::acceptor& acceptor() { return accepting->acceptor(); }

  simulation::SimBench bench;
  std::vector<int> clients{};
  std::function<void(int)> accepted = [this](int client) { clients.push_back(client); };
  std::shared_ptr<AcceptLoop<ScriptedProtocol>> accepting =
      std::make_shared<AcceptLoop<ScriptedProtocol>>(bench.loop(), [this](int client) { accepted(client); });
};

}  // namespace

TEST_CASE("one client after the other is accepted, and one that went away before that costs nobody anything") {
  Door door;
  door.acceptor().come(1);
  door.acceptor().fail(asio::error::connection_aborted);
  door.acceptor().come(2);
  CHECK(door.clients == std::vector<int>{1, 2});
  CHECK(door.acceptor().is_waiting());
}

TEST_CASE("a process that has run out of descriptors accepts nobody for 100 ms, and then tries again") {
  Door door;
  door.acceptor().fail(asio::error::no_descriptors);
  door.bench.pass(100ms - 1ns);
  CHECK_FALSE(door.acceptor().is_waiting());
  door.bench.pass(1ns);
  REQUIRE(door.acceptor().is_waiting());
  door.acceptor().come(1);
  CHECK(door.clients == std::vector<int>{1});
}

TEST_CASE("a client that cannot be served costs none of those that come after it") {
  Door door;
  door.accepted = [](int) { throw std::bad_alloc(); };
  CHECK_THROWS_AS(door.acceptor().come(1), std::bad_alloc);
  door.accepted = [&](int client) { door.clients.push_back(client); };
  REQUIRE(door.acceptor().is_waiting());
  door.acceptor().come(2);
  CHECK(door.clients == std::vector<int>{2});
}

TEST_CASE("nobody is accepted after the end, also where a pause was under way") {
  const bool in_pause = GENERATE(false, true);
  Door door;
  if (in_pause) door.acceptor().fail(asio::error::no_descriptors);
  const std::weak_ptr<AcceptLoop<ScriptedProtocol>> kept = door.accepting;
  door.accepting->stop();
  door.bench.settle();
  CHECK_FALSE(door.acceptor().is_waiting());
  CHECK(kept.use_count() == 1);  // the test's own
}

}  // namespace rkllm_mcp::test
