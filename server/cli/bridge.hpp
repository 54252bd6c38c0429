// Standard input and output as a way to an MCP server elsewhere: each line of input goes to it as it is, and each of
// its messages comes out as a line. What the server cannot answer any more is answered here, with an error.
//
// Threads: run() on one, which reads the input; a thread of its own prints what the server says, and ends with the
// bridge.
#pragma once

#include "cli/input_lines.hpp"
#include "client/connection.hpp"
#include "client/endpoint.hpp"
#include "client/mcp/message_facts.hpp"
#include "clock.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace rkllm_mcp {

// The requests that a bridge has sent and that are not answered: it waits for their answers, and answers them itself
// when none comes any more.
//
// Threads: any.
class RequestsInFlight {
 public:
  // To be called before a message is sent; before a message that has come is printed; and after it was printed.
  void note_sent(const client::MessageFacts& facts);
  void note_received(const client::MessageFacts& facts);
  void note_printed();

  // Waits until all requests are answered and the answers printed, give_up() is called, or the deadline has come.
  void await_none(Clock::time_point deadline);
  // The ids of those without an answer, which are forgotten. Nobody waits for answers from now on.
  std::vector<Json> give_up();

 private:
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<Json> ids_;
  int being_printed_ = 0;  // answers
  bool given_up_ = false;
};

// Standard output, in whole lines, whoever writes them. Threads: any.
class OutputLines {
 public:
  // Writes the line and its end, and waits while whoever reads them is slow; false when nobody reads any more, or
  // nothing can be written.
  bool print(std::string line);
  // The errno for which nothing can be written; 0 if there is none, or it is only that nobody reads any more.
  int error() const { return error_; }

 private:
  std::mutex mutex_;  // held for as long as a line is being written
  std::atomic<int> error_ = 0;
};

class Bridge {
 public:
  explicit Bridge(client::Endpoint endpoint);
  Bridge(const Bridge&) = delete;
  Bridge& operator=(const Bridge&) = delete;
  ~Bridge();  // closes the connection, which may need the network

  // Once. Until the input ends, and then for up to half a second until everything is answered; or until the server has
  // gone, or nobody reads the output, or it cannot be written. Returns the exit code.
  int run();

 private:
  std::string words(const client::ConnectionError& error) const;
  void send_all();  // until the input ends, the server has gone, or nobody reads the output, or it cannot be written
  void receive_all();
  void note_loss(const std::string& reason);
  // Tells the reason to the person, and answers the host's requests with it; waits `patience` for the first of them.
  int fail(const std::string& reason, std::chrono::milliseconds patience);
  void refuse(const std::vector<Json>& requests, const std::string& reason);

  const client::Endpoint endpoint_;
  InputLines input_;
  OutputLines output_;
  RequestsInFlight in_flight_;
  std::mutex mutex_;                 // guards the next
  std::optional<std::string> loss_;  // why the server has gone
  std::unique_ptr<client::Connection> connection_;
  std::thread receiver_;
};

}  // namespace rkllm_mcp
