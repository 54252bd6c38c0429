// What a schedule asks of each of its clients.
#pragma once

#include <string>

namespace rkllm_mcp::simulation {

class Client {
 public:
  Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  virtual ~Client() = default;

  virtual void start() = 0;
  // No more faults from here on: it takes what it is owed, and leaves then.
  virtual void settle() = 0;
  virtual bool is_done() const = 0;
  virtual std::string owed() const = 0;  // requests without an end, for complaints
  // After each step: whether something goes on for it although the server must know that nobody needs it. Throws a
  // Violation.
  virtual void check() {}
  // When the schedule is over: checks that the server keeps only what the client left there. Throws a Violation.
  virtual void check_end() {}
  // The schedule is over, perhaps because it has failed: ends what would outlive the client.
  virtual void abandon() {}
};

}  // namespace rkllm_mcp::simulation
