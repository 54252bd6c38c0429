// A connection that may lose messages, made reliable for requests the way docs/protocol.md (UDP) has it: each is sent
// again, byte for byte, until it is answered; an answer that comes twice is handed out once. A cancellation, which
// nobody answers, is sent three times in all; other notifications once.
//
// Threads: as every connection; the lock guards what sending and receiving share. Repetitions are sent by receive().
#pragma once

#include "client/connection.hpp"
#include "clock.hpp"

#include <rkllm_mcp/json.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::client {

class RepeatingConnection final : public Connection {
 public:
  // `url` is for error messages.
  RepeatingConnection(std::unique_ptr<Connection> lossy, std::string url)
      : lossy_(std::move(lossy)), url_(std::move(url)) {}

  // A request that a datagram cannot carry is answered with an error from this side.
  void send(std::string_view message) override;
  std::optional<std::string> receive(Clock::time_point deadline) override;
  void interrupt() override { lossy_->interrupt(); }

 private:
  struct Repeated {
    Json id;  // of the request; null: a notification
    std::string message;
    Clock::time_point next;
    std::chrono::milliseconds pause;
    int left;  // repetitions
  };
  struct Answered {
    Json id;
    std::size_t hash;  // of the answer
  };

  void refuse(const std::vector<Json>& requests, const std::string& complaint);
  void send_due();
  Clock::time_point next_due(Clock::time_point deadline);
  bool is_new(const std::string& message);

  const std::unique_ptr<Connection> lossy_;
  const std::string url_;
  std::mutex mutex_;  // guards what follows
  std::list<Repeated> repeated_;
  std::deque<Answered> answered_;    // the latest answers, to notice repetitions
  std::deque<std::string> refused_;  // errors made by this side, which receive() returns
};

}  // namespace rkllm_mcp::client
