// What ends a connection from another thread. That it is a connection like others: connection_contract_test.cpp.
#include "upstreams/stoppable_connection.hpp"

#include "support/catch.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp::test {
namespace {

class CountsInterrupts final : public client::Connection {
 public:
  explicit CountsInterrupts(int& interrupts) : interrupts_(interrupts) {}
  void send(std::string_view) override {}
  std::optional<std::string> receive(Clock::time_point) override { return std::nullopt; }
  void interrupt() override { ++interrupts_; }

 private:
  int& interrupts_;
};

}  // namespace

TEST_CASE("what stops connections interrupts the one that there is, and refuses all that come later") {
  int interrupts = 0;
  StoppableConnection::Stop stop;
  { const StoppableConnection before(stop, std::make_unique<CountsInterrupts>(interrupts)); }
  const StoppableConnection connection(stop, std::make_unique<CountsInterrupts>(interrupts));
  CHECK(interrupts == 0);
  stop.stop();
  CHECK(interrupts == 1);
  CHECK_THROWS_AS(StoppableConnection(stop, std::make_unique<CountsInterrupts>(interrupts)), client::ConnectionError);
}

TEST_CASE("what stops connections touches none that has gone") {
  int interrupts = 0;
  StoppableConnection::Stop stop;
  auto connection = std::make_unique<StoppableConnection>(stop, std::make_unique<CountsInterrupts>(interrupts));
  connection.reset();
  stop.stop();
  CHECK(interrupts == 0);
}

}  // namespace rkllm_mcp::test
