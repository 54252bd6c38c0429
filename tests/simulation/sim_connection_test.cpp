// What transport/bytes/byte_stream.hpp promises, held against the server's end of a simulated connection, as against
// the real kinds of stream in tests/runtime/transport/bytes.
#include "simulation/world/sim_connection.hpp"
#include "simulation/world/choices.hpp"
#include "simulation/world/world.hpp"

#include "runtime/transport/bytes/byte_stream_contract.hpp"

#include "support/catch.hpp"

#include <asio/post.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

using namespace rkllm_mcp::simulation;
using namespace rkllm_mcp::test;

namespace {

constexpr int kMostSteps = 200'000;  // far above what any of these takes

// As LoopThread, with the world's loop, which turns while it is waited for.
class SimLoop {
 public:
  SimLoop() = default;
  SimLoop(const SimLoop&) = delete;
  SimLoop& operator=(const SimLoop&) = delete;
  ~SimLoop() {
    for (const auto& action : before_end_) call(action);
  }

  asio::io_context& io() { return world.loop(); }
  void before_end(std::function<void()> action) { before_end_.push_back(std::move(action)); }

  template <class Action>
  std::invoke_result_t<Action&> call(Action action) {
    using Result = std::invoke_result_t<Action&>;
    bool has_run = false;
    if constexpr (std::is_void_v<Result>) {
      asio::post(io(), [&] { action(), has_run = true; });
      await(has_run);
    } else {
      std::optional<Result> result;
      asio::post(io(), [&] { result = action(), has_run = true; });
      await(has_run);
      return *std::move(result);
    }
  }
  bool eventually(const std::function<bool()>& condition) {
    for (int steps = 0; steps < kMostSteps; ++steps) {
      if (call(condition)) return true;
      world.step();
    }
    return false;
  }

 private:
  // What is posted to the loop sets it.
  void await(const bool& has_run) {
    while (!has_run) world.pass({});
  }

  Choices choices_{std::uint64_t{1}};

 public:
  World world{choices_};

 private:
  std::vector<std::function<void()>> before_end_;
};

// The client of a connection; reads while it waits for what comes.
class ReadingClient {
 public:
  explicit ReadingClient(World& world)
      : connection(std::make_shared<SimConnection>(world, "the client")), world_(world) {
    connection->listen({[this](std::string_view bytes) { received_ += bytes; }, [this] { has_ended_ = true; }});
    connection->set_reading(false);
  }

  void send(std::string_view bytes) { connection->send(bytes); }
  std::string receive_until(std::string_view mark) {
    return receive([&] { return received_.ends_with(mark); });
  }
  std::string receive_rest() {
    return receive([this] { return has_ended_; });
  }

  std::shared_ptr<SimConnection> connection;

 private:
  std::string receive(const std::function<bool()>& is_enough) {
    connection->set_reading(true);
    for (int steps = 0; !is_enough(); ++steps) {
      if (steps == kMostSteps) throw std::runtime_error("nothing comes");
      world_.step();
    }
    connection->set_reading(false);
    return std::exchange(received_, {});
  }

  World& world_;
  std::string received_;
  bool has_ended_ = false;
};

struct OverSimulation : OfOneStream<SimLoop> {
  OverSimulation() {
    loop.call([this] { begin(far->connection->stream()); });
  }
  void finish() { far->connection->finish(); }
  void vanish() { far->connection->close(); }

  std::optional<ReadingClient> far{loop.world};
};

}  // namespace

TEST_CASE("the server's end of a simulated connection is a stream of bytes as a socket is one") {
  SECTION("it carries them whole and in order, both ways at the same time") {
    OverSimulation one;
    byte_stream_contract::carries_bytes_both_ways(one);
  }
  SECTION("when the client sends no more, reading ends after all that it sent, and writing goes on") {
    OverSimulation one;
    byte_stream_contract::ends_reading_after_the_last_byte(one);
  }
  SECTION("the client gets all that was written, and then the end") {
    OverSimulation one;
    byte_stream_contract::brings_all_before_the_end(one);
  }
  SECTION("what is under way as it is closed ends with an error, once, as does what comes later") {
    OverSimulation one;
    byte_stream_contract::ends_what_is_under_way_as_it_closes(one);
  }
  SECTION("when the client has gone it hangs up, and what is written to it fails") {
    OverSimulation one;
    byte_stream_contract::hangs_up_as_the_other_end_goes(one);
  }
}
