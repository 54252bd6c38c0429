// Other servers as an assistant's provider: those of Ollama, and all that speak OpenAI's chat completions. They are
// asked by cpp-httplib, on a few threads beside the event loop.
//
// Threads: event loop, but for end().
#pragma once

#include "chat/assistant/providers/provider.hpp"
#include "clock.hpp"
#include "run_loop.hpp"
#include "threads/fair_threads.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

namespace rkllm_mcp::chat {

class RemoteProvider final : public Provider {
 public:
  struct Options {
    std::size_t threads = 16;
    std::size_t most_waiting = 64;
    std::chrono::seconds to_connect{10};
    std::chrono::seconds patience{300};  // for each wait for bytes
    std::string user_agent{};
    std::string ca_file{};  // PEM; empty: the system's certificates
  };

  RemoteProvider(asio::io_context& loop, Options options);
  RemoteProvider(const RemoteProvider&) = delete;
  RemoteProvider& operator=(const RemoteProvider&) = delete;
  ~RemoteProvider() override;

  std::unique_ptr<Running> make(const Profile& profile, TextWish wish, const Asker& asker, const std::string& peer,
                                TurnListener& listener) override;
  // After the last text was given up: waits for what still goes on; false if that takes too long. Any thread.
  bool end(Clock::time_point deadline) { return threads_.end(deadline); }

 private:
  class Text;

  const Options options_;
  const WayToLoop way_to_loop_;  // of the threads, which may outlive this
  FairThreads threads_;
};

}  // namespace rkllm_mcp::chat
