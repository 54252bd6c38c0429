// One client of the soak: on its own connection and its own handle it does one thing after the other, at random, some
// of them on purpose badly.
//
// Threads: each client has its own; the ledger and the counts are shared.
#pragma once

#include "ledger.hpp"
#include "support/live_server.hpp"
#include "support/rpc_client.hpp"
#include "support/transport.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>

namespace rkllm_mcp::test {

struct SoakCounts {
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> cancels{0};
  std::atomic<std::uint64_t> disconnects{0};
  std::atomic<std::uint64_t> kills{0};
  std::atomic<std::uint64_t> slow_reads{0};
  std::atomic<std::uint64_t> long_messages{0};
};

// Where the server's models live: workers can be killed.
enum class Isolation { kProcess, kThread };

class RestlessClient {
 public:
  RestlessClient(LiveServer& server, Transport transport, Isolation isolation, unsigned seed, Ledger& ledger,
                 SoakCounts& counts);

  // Works until `enough` says so. Throws std::runtime_error if the server does not do as it should.
  void work(const std::function<bool()>& enough);

 private:
  void connect();
  void load();
  void run_to_the_end();
  void read_slowly();
  void cancel();
  void leave();
  void kill_worker();
  void ask_around();
  void send_long_messages();
  void load_anew();

  // Starts a run of so many tokens, about; gives the request's id.
  int start(int tokens);
  void finish(const StreamCheck& stream);
  std::string new_prompt(int tokens);

  LiveServer& server_;
  const Transport transport_;
  const Isolation isolation_;
  const int first_id_;
  std::mt19937 random_;
  Ledger& ledger_;
  SoakCounts& counts_;
  const std::string name_;

  std::unique_ptr<RpcClient> rpc_;
  std::string handle_;
  bool killed_ = false;  // the worker that it is in
  std::string prompt_;   // of the latest run
  int runs_ = 0;
  int connections_ = 0;
};

}  // namespace rkllm_mcp::test
