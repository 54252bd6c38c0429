// One HTTP exchange that a model is pulled for, in Ollama's words: a line for each step and for the bytes that have
// come, or only the last one. A client that goes gives the pull up; one that reads slowly misses lines in the middle,
// but no remark.
//
// Event loop only. Owned by whoever opened it; `gone` is called when the exchange is over, and may destroy this.
#pragma once

#include "chat/dialects/ollama/ollama_store.hpp"
#include "chat/turn/model_store.hpp"
#include "deadline.hpp"
#include "transport/http/http_exchange.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace rkllm_mcp::chat {

class PullExchange {
 public:
  struct Options {
    std::string request_id{};
    std::chrono::milliseconds heartbeat{};
  };

  PullExchange(asio::io_context& loop, http::Exchange& exchange, OllamaStoreRequest request, Options options,
               std::function<void(int status)> gone);

  // Throws TurnError for what is wrong at once; then nothing has been sent, and nothing will be.
  void begin(ModelStore& store);
  void failed(const TurnError& error);

 private:
  void write(const std::string& line);
  void write_remarks();
  void progress(const PullProgress& progress);
  void remark(const std::string& words);
  void done(const PulledModel& model);
  http::Headers headers(std::string_view content_type) const;
  void over(int status);

  const std::shared_ptr<http::Exchange> exchange_;
  const OllamaStoreRequest request_;
  const Options options_;
  const std::function<void(int status)> gone_;
  std::unique_ptr<QueuePlace> pulling_;
  std::string last_line_;
  std::string remark_;          // all of them
  std::string unsent_remarks_;  // lines that wait for a client that reads slowly
  Deadline silence_;            // until the client is told once more what it knows
};

}  // namespace rkllm_mcp::chat
