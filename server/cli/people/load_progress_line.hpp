// While a command waits for a model that the server loads: how far that is, on the terminal. Asks the server for it
// again and again, on a thread of its own, and tells only what the server knows.
//
// Threads: make and destroy it on one.
#pragma once

#include "cli/help/progress_line.hpp"
#include "cli/people/server_link.hpp"

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace rkllm_mcp {

class LoadProgressLine {
 public:
  // `model`: its name, or the path of its file. Where standard error is no terminal nothing is asked and shown.
  LoadProgressLine(const ServerLink& server, std::string model);
  LoadProgressLine(const LoadProgressLine&) = delete;
  LoadProgressLine& operator=(const LoadProgressLine&) = delete;
  ~LoadProgressLine() { end(); }

  // The line goes away, and does not come again. Idempotent.
  void end();

 private:
  void look();
  void show(const Json& health);

  ServerLink server_;  // of its own: the other one is waiting
  const std::string model_;
  ProgressLine line_;
  std::mutex mutex_;  // guards is_over_
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread looker_;
};

}  // namespace rkllm_mcp
