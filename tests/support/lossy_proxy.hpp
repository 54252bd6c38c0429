// A bad network between one UDP client and a server: datagrams get lost, arrive twice, or arrive after later ones, in
// both directions. Which ones is decided by the seed and by how many have come before, not by time.
//
// Threads: it has one of its own; every function may be called from any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <random>
#include <string>
#include <thread>

namespace rkllm_mcp::test {

class LossyProxy {
 public:
  // What becomes of a datagram, in percent; the others pass as they should.
  struct Odds {
    unsigned lost = 10;
    unsigned doubled = 10;
    unsigned late = 10;
  };
  struct Counts {
    std::size_t came = 0;
    std::size_t lost = 0;
    std::size_t doubled = 0;
    std::size_t late = 0;
    std::size_t longest = 0;  // bytes
  };

  // Listens on a free port of this machine. Throws std::system_error.
  LossyProxy(std::uint16_t server_port, unsigned seed) : LossyProxy(server_port, seed, Odds()) {}
  LossyProxy(std::uint16_t server_port, unsigned seed, const Odds& odds);
  LossyProxy(const LossyProxy&) = delete;
  LossyProxy& operator=(const LossyProxy&) = delete;
  ~LossyProxy();

  std::uint16_t port() const;
  Counts to_server() const;
  Counts to_client() const;

 private:
  struct Late {
    std::string datagram;
    std::size_t after;  // sent on as Counts::came reaches this
  };
  struct Direction {
    std::mt19937 dice;
    std::deque<Late> late;
    Counts counts;
  };

  void run();
  void relay(int from, int to, Direction& direction);
  void decide(std::string datagram, int to, Direction& direction);

  const Odds odds_;
  Direction to_server_;
  Direction to_client_;
  mutable std::mutex mutex_;  // guards both directions' counts
  int client_side_ = -1;
  int server_side_ = -1;
  std::array<int, 2> stop_{-1, -1};  // a pipe: its end stops the thread
  std::thread thread_;
};

}  // namespace rkllm_mcp::test
