// soak [MINUTES [SEED [thread]]]: clients on all transports, with cancels, disconnects, killed workers and slow
// readers, and every stream compared with what the simulator recorded; beside them clients of the chat host, in all its
// dialects. With "thread" the models live in the server itself (runtime.isolation=thread), where no worker can be
// killed. Prints totals; status 1 if anything was lost, mixed, duplicated or leaked.
#include "chat_client.hpp"
#include "ledger.hpp"
#include "restless_client.hpp"
#include "support/holdings.hpp"
#include "support/live_server.hpp"
#include "support/rpc_client.hpp"
#include "support/transport.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kClientsPerTransport = 2;
constexpr std::array kTransports{Transport::kTcp, Transport::kUnix, Transport::kUdp, Transport::kHttp,
                                 Transport::kWebSocket};
constexpr int kChatClients = 3;
const std::string kChatModel = "qwen2-soak";

// Talks, and leaves a sixth of its answers in the middle.
void chat(const LiveServer& server, int number, unsigned seed, SoakCounts& counts,
          const std::function<bool()>& enough) {
  constexpr int kTurnsBetweenLeaving = 5;
  ChatClient client(server, {.name = "chat-" + std::to_string(number) + ";", .model = kChatModel, .seed = seed});
  while (!enough()) {
    for (int turn = 0; turn < kTurnsBetweenLeaving; ++turn) client.talk();
    client.leave();
    counts.requests += kTurnsBetweenLeaving + 1;
    ++counts.disconnects;
  }
}

// Once everybody has gone, the server is to hold what it held before anybody came.
Holdings await_quiet(LiveServer& server, const Holdings& before) {
  constexpr std::chrono::seconds kPatience{40};  // a polled stream that nobody polls lives 30 s
  constexpr std::chrono::milliseconds kBetweenLooks{50};
  const auto deadline = Clock::now() + kPatience;
  Holdings now = holdings_of(server.process().pid());
  while (!now.within(before) && Clock::now() < deadline) {
    std::this_thread::sleep_for(kBetweenLooks);
    now = holdings_of(server.process().pid());
  }
  return now;
}

std::size_t excess(std::size_t now, std::size_t before) { return now > before ? now - before : 0; }

int soak(double minutes, unsigned seed, Isolation isolation) {
  LiveServer server({.set = {"limits.max_handles=64", "udp.retained_chunks=200000", "udp.idle_s=2",
                             isolation == Isolation::kThread ? "runtime.isolation=thread" : "runtime.isolation=process",
                             chat_models({kChatModel}, shipped_model("fast"))}});
  {
    RpcClient first(server.connect(Transport::kTcp));  // what is made once is not leaked
    first.result("rkllm_destroy", {{"handle", first.init(shipped_model("fast"))}});
    first.result("rkllm_createDefaultParam");
    first.call("rkllm_is_running", {{"handle", std::string(200'000, 'y')}});  // a thread for long messages
    ChatClient(server, {.name = "first", .model = kChatModel}).talk();
  }
  while (server.health()["transports"]["tcp"]["connections"] != 0) {
  }
  const Holdings before = holdings_of(server.process().pid());
  Ledger ledger;
  SoakCounts counts;
  std::mutex mutex;
  std::vector<std::string> failures;

  const auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(minutes * 60));
  const auto enough = [end] { return Clock::now() >= end; };
  std::vector<std::thread> clients;
  const auto start = [&](const std::string& name, std::function<void(unsigned)> work) {
    clients.emplace_back([&mutex, &failures, name, work = std::move(work), own_seed = ++seed] {
      try {
        work(own_seed);
      } catch (const std::exception& error) {
        const std::lock_guard lock(mutex);
        failures.push_back(name + ": " + error.what());
      }
    });
  };
  for (const Transport transport : kTransports) {
    for (int each = 0; each < kClientsPerTransport; ++each) {
      start(std::string(name_of(transport)), [&, transport](unsigned own_seed) {
        RestlessClient(server, transport, isolation, own_seed, ledger, counts).work(enough);
      });
    }
  }
  for (int number = 0; number < kChatClients; ++number) {
    start("chat", [&, number](unsigned own_seed) { chat(server, number, own_seed, counts, enough); });
  }
  for (auto& client : clients) client.join();

  const Holdings after = await_quiet(server, before);
  const Verdict verdict = ledger.verdict(server.recorded_runs());
  const std::size_t leaked = excess(after.descriptors, before.descriptors) + excess(after.threads, before.threads);
  for (const auto& failure : failures) std::printf("failed: %s\n", failure.c_str());
  for (const auto& complaint : verdict.complaints) std::printf("%s\n", complaint.c_str());
  std::printf("%.1f minutes: %llu requests, %llu streams, %llu tokens\n", minutes,
              static_cast<unsigned long long>(counts.requests), static_cast<unsigned long long>(verdict.streams),
              static_cast<unsigned long long>(verdict.tokens));
  std::printf("faults: %llu cancels, %llu disconnects, %llu killed workers, %llu slow readers; long messages: %llu\n",
              static_cast<unsigned long long>(counts.cancels), static_cast<unsigned long long>(counts.disconnects),
              static_cast<unsigned long long>(counts.kills), static_cast<unsigned long long>(counts.slow_reads),
              static_cast<unsigned long long>(counts.long_messages));
  std::printf("resident: %zu kB before, %zu kB after\n", before.resident_kb, after.resident_kb);
  std::printf("lost %llu, mixed %llu, duplicated %llu, leaked %zu, failed clients %zu\n",
              static_cast<unsigned long long>(verdict.lost), static_cast<unsigned long long>(verdict.mixed),
              static_cast<unsigned long long>(verdict.duplicated), leaked, failures.size());
  const bool well = verdict.lost + verdict.mixed + verdict.duplicated + leaked + failures.size() == 0;
  return well ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace rkllm_mcp::test

int main(int argc, char** argv) {
  using rkllm_mcp::test::Isolation;
  const double minutes = argc > 1 ? std::atof(argv[1]) : 3;
  const auto seed = static_cast<unsigned>(argc > 2 ? std::atol(argv[2]) : 1);
  const std::string_view isolation = argc > 3 ? argv[3] : "process";
  if (!(minutes > 0) || (isolation != "process" && isolation != "thread")) {
    std::fprintf(stderr, "usage: soak [MINUTES [SEED [thread]]]\n");
    return 2;
  }
  std::printf("soak, seed %u, models in %s\n", seed, isolation == "thread" ? "the server" : "workers");
  return rkllm_mcp::test::soak(minutes, seed, isolation == "thread" ? Isolation::kThread : Isolation::kProcess);
}
