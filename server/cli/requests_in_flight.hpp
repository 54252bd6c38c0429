// The requests that a bridge has sent and that are not answered: for whom an answer must be waited for, or made when
// none comes any more.
//
// Threads: any.
#pragma once

#include "client/mcp/message_facts.hpp"
#include "clock.hpp"

#include <condition_variable>
#include <mutex>
#include <vector>

namespace rkllm_mcp {

class RequestsInFlight {
 public:
  // A message that is about to be sent, and one that has come.
  void note_sent(const client::MessageFacts& facts);
  void note_received(const client::MessageFacts& facts);

  // Until every request is answered, somebody gives up, or the deadline.
  void await_none(Clock::time_point deadline);
  // The ids of those without an answer, which are forgotten. Nobody waits for answers from now on.
  std::vector<Json> give_up();

 private:
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<Json> ids_;
  bool given_up_ = false;
};

}  // namespace rkllm_mcp
