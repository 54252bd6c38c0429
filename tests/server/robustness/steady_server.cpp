#include "steady_server.hpp"

#include "server/e2e/arrived_whole.hpp"
#include "support/catch.hpp"
#include "support/rpc_client.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace rkllm_mcp::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr bool kSanitized = RKLLM_MCP_SANITIZED;
constexpr std::size_t kAllowedPercent = 110;  // of the memory that was held before

LiveServer::Options forgetful(LiveServer::Options options) {
  options.set.insert(options.set.begin(), "udp.idle_s=1");  // where the test does not say otherwise
  return options;
}

}  // namespace

SteadyServer::SteadyServer(LiveServer::Options options)
    : with_stdio_(options.with_stdio), live_(forgetful(std::move(options))) {
  load(shipped_model("fast"));
}

std::string SteadyServer::load(const std::string& model) {
  // What counts as the server's own must not hold a client's connection.
  RpcClient client(live_.connect(with_stdio_ ? Transport::kStdio : Transport::kUdp));
  std::string handle = client.init(model);
  REQUIRE(client.stream(client.run_async(handle, "@n=10 the first on " + handle)).ended());
  idle_ = settled();
  return handle;
}

// The worker for the next model starts when this one has got its own, and nobody is told when it is ready.
Holdings SteadyServer::settled() {
  constexpr int kTimesTheSame = 50;
  Holdings last = holdings_of(live_.process().pid());
  int times = 0;
  const auto stays_the_same = [&] {
    const Holdings now = holdings_of(live_.process().pid());
    times = now.within(last) && last.within(now) ? times + 1 : 0;
    last = now;
    return times == kTimesTheSame;
  };
  REQUIRE(await(stays_the_same));
  return last;
}

std::size_t SteadyServer::runs_of(std::string_view prompt) const {
  const auto runs = live_.recorded_runs();
  return static_cast<std::size_t>(
      std::count_if(runs.begin(), runs.end(), [prompt](const RecordedRun& run) { return run.prompt == prompt; }));
}

// False if the state is not reached in time, or the server has ended.
bool SteadyServer::await(const std::function<bool()>& state) {
  constexpr std::chrono::seconds kPatience{60};
  constexpr std::chrono::milliseconds kBetweenLooks{5};
  for (const auto deadline = Clock::now() + kPatience; !state();) {
    if (Clock::now() > deadline || live_.process().wait(kBetweenLooks)) return false;
  }
  return true;
}

Holdings SteadyServer::await_quiet() {
  const pid_t process = live_.process().pid();
  const auto is_idle = [&] { return holdings_of(process).within(idle_); };
  // First, or there may be no room for the client that asks for the server's health.
  if (await(is_idle)) {
    await([this] { return live_.health()["transports"]["udp"]["connections"] == 0; });
    await(is_idle);
  }
  return holdings_of(process);
}

void SteadyServer::endures(int times, const std::function<void()>& scenario) {
  scenario();
  const Holdings before = await_quiet();
  for (int i = 0; i < times; ++i) scenario();
  const Holdings after = await_quiet();

  CHECK(after.processes == idle_.processes);
  CHECK(after.descriptors <= idle_.descriptors);
  CHECK(after.threads <= idle_.threads);
  INFO("resident: " << before.resident_kb << " kB before, " << after.resident_kb << " kB after");
  if (!kSanitized) CHECK(after.resident_kb <= before.resident_kb * kAllowedPercent / 100);
  check_answers();
}

void SteadyServer::check_answers() {
  constexpr int kFirstId = 1'000'000;  // clients of plain HTTP share a session, and with it their ids
  for (const Transport transport : kAllTransports) {
    if (transport == Transport::kStdio && !with_stdio_) continue;
    const std::string prompt = "@n=200 stream " + std::to_string(++streams_) + " of those that must arrive";
    INFO(name_of(transport));
    RpcClient client(live_.connect(transport), kFirstId + 10 * streams_);
    CHECK(client.result("ping") == Json::object());
    CHECK(difference(live_, client.stream(client.run_async("llm-1", prompt)), prompt, 200) == "");
  }
}

}  // namespace rkllm_mcp::test
