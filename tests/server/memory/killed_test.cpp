// kill -9 at any moment loses no message that was acknowledged, and doubles none. (That would hold without any sync,
// since the system keeps what was written; durability_test.cpp is about power cuts.)
#include "server/memory/written.hpp"
#include "support/catch.hpp"

#include <signal.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace rkllm_mcp::test {
namespace {

constexpr int kWriters = 4;

std::string chat_of(int writer) { return "chat_" + std::to_string(writer); }

// So many times as RKLLM_MCP_KILLS says, where one has the time.
int rounds() {
  constexpr int kUsual = 20;
  const char* const asked = std::getenv("RKLLM_MCP_KILLS");
  return asked == nullptr ? kUsual : std::atoi(asked);
}

}  // namespace

TEST_CASE("a server that is killed during writes has every acknowledged message afterwards, in order, once") {
  const TemporaryDirectory directory;
  const auto options = memory_only(directory / "memory.db");
  std::vector<Written> all;
  for (int writer = 0; writer < kWriters; ++writer) all.push_back({chat_of(writer)});
  for (int round = 0; round < rounds(); ++round) {
    INFO("round " << round);
    {
      LiveServer server(options);
      std::atomic<std::size_t> count{0};
      const std::atomic<bool> stop{false};
      std::vector<std::thread> writers;
      for (Written& written : all) {
        writers.emplace_back(
            [&, prefix = std::to_string(round) + "."] { write_on(server, written, prefix, count, stop); });
      }
      const std::size_t enough = 1 + static_cast<std::size_t>(round % 20) * 7;
      while (count < enough) std::this_thread::yield();
      server.process().signal(SIGKILL);
      for (auto& writer : writers) writer.join();
    }
    LiveServer server(options);
    RpcClient client(server.connect(Transport::kTcp));
    for (const Written& written : all) REQUIRE(fault_of(contents_there(client, written.conversation), written) == "");
  }
}

TEST_CASE("a server that is asked to end has what was acknowledged, and closes its file") {
  const TemporaryDirectory directory;
  const auto options = memory_only(directory / "memory.db");
  {
    LiveServer server(options);
    RpcClient client(server.connect(Transport::kTcp));
    client.result(kPrefix + "add_message", of_chat("c", {{"role", "user"}, {"content", "x"}}));
    server.process().signal(SIGTERM);
    CHECK(server.process().wait() == 0);
  }
  CHECK_FALSE(std::filesystem::exists(directory / "memory.db-wal"));
  LiveServer server(options);
  RpcClient client(server.connect(Transport::kTcp));
  CHECK(contents_there(client, "c").size() == 1);
}

TEST_CASE("64 clients on all transports write and read at once, and nothing is lost or out of order") {
  const TemporaryDirectory directory;
  LiveServer server(memory_only(directory / "memory.db"));
  constexpr int kClients = 64;
  constexpr int kEach = 10;
  std::atomic<int> done{0};
  std::mutex mutex;
  std::vector<std::string> faults;
  std::vector<std::thread> clients;
  const std::array transports{Transport::kTcp, Transport::kUdp, Transport::kHttp, Transport::kWebSocket};
  for (int at = 0; at < kClients; ++at) {
    clients.emplace_back([&, at] {
      try {
        RpcClient client(server.connect(transports.at(static_cast<std::size_t>(at) % transports.size())),
                         1 + at * 1000);
        for (int n = 0; n < kEach; ++n) {
          client.result(kPrefix + "add_message",
                        of_chat(chat_of(at), {{"role", "user"}, {"content", std::to_string(n)}}));
          client.result(kPrefix + "add_message",
                        of_chat("shared", {{"role", "user"}, {"content", std::to_string(at)}}));
          client.result(kPrefix + "get_context", of_chat(chat_of(at)));
        }
        ++done;
      } catch (const std::exception& fault) {
        const std::lock_guard lock(mutex);
        faults.emplace_back(fault.what());
      }
    });
  }
  for (auto& client : clients) client.join();
  INFO((faults.empty() ? "" : faults.front()));
  REQUIRE(done == kClients);
  RpcClient client(server.connect(Transport::kTcp));
  for (int at = 0; at < kClients; ++at) {
    std::vector<std::string> expected;
    for (int n = 0; n < kEach; ++n) expected.push_back(std::to_string(n));
    CHECK(contents_there(client, chat_of(at)) == expected);
  }
  CHECK(contents_there(client, "shared").size() == static_cast<std::size_t>(kClients * kEach));
}

}  // namespace rkllm_mcp::test
