#include "chat/http/pull_exchange.hpp"

#include "chat/dialects/ollama/ollama_reply.hpp"
#include "chat/dialects/reply_stream.hpp"
#include "chat/http/chat_exchange.hpp"
#include "jsonrpc/unread.hpp"

#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr int kDone = 200;

}  // namespace

PullExchange::PullExchange(asio::io_context& loop, http::Exchange& exchange, OllamaStoreRequest request,
                           Options options, std::function<void(int status)> gone)
    : exchange_(exchange.shared_from_this()),
      request_(std::move(request)),
      options_(std::move(options)),
      gone_(std::move(gone)),
      silence_(loop, [this] { write(last_line_); }) {}

void PullExchange::begin(ModelStore& store) {
  pulling_ = store.pull(request_.model, {.progress = [this](const PullProgress& news) { progress(news); },
                                         .done = [this](const PulledModel& model) { done(model); },
                                         .failed = [this](const TurnError& error) { failed(error); },
                                         .remark = [this](const std::string& words) { remark(words); }});
  if (!request_.stream) return;
  exchange_->start_stream(kDone, headers("application/x-ndjson"));
  write(ollama_pull_line({}));
}

http::Headers PullExchange::headers(std::string_view content_type) const {
  http::Headers all{{"Cache-Control", "no-store"}, {"x-request-id", options_.request_id}};
  add_ignored_fields(all, request_.ignored);
  if (!request_.stream) return all;  // respond() is told the type apart from them
  all.add("Content-Type", content_type);
  all.add("X-Accel-Buffering", "no");
  return all;
}

void PullExchange::write(const std::string& line) {
  silence_.set_after(options_.heartbeat);
  last_line_ = line;
  if (exchange_->closed() || !exchange_->ready()) return;
  write_remarks();
  exchange_->write(line);
}

void PullExchange::write_remarks() {
  if (!unsent_remarks_.empty()) exchange_->write(std::exchange(unsent_remarks_, {}));
}

void PullExchange::progress(const PullProgress& progress) {
  if (!request_.stream) return;
  const std::string line = ollama_pull_line(progress);
  if (line != last_line_) write(line);
}

void PullExchange::remark(const std::string& words) {
  remark_ += (remark_.empty() ? "" : "\n") + words;
  if (!request_.stream) return;
  unsent_remarks_ += ollama_pull_remark(words);
  if (!exchange_->closed() && exchange_->ready()) write_remarks();
}

void PullExchange::done(const PulledModel& model) {
  const std::string last = ollama_pull_success(model, remark_);
  if (request_.stream) {
    if (!exchange_->closed()) {
      write_remarks();
      exchange_->write(last);
      exchange_->finish();
    }
  } else {
    exchange_->respond({kDone, headers("application/json"), "application/json", last});
  }
  over(kDone);
}

void PullExchange::failed(const TurnError& error) {
  if (!request_.stream) return over(send_error(*exchange_, Surface::kOllama, error, options_.request_id));
  if (!exchange_->closed()) {
    write_remarks();
    exchange_->write(to_text(ollama_error(error)) + "\n");
    exchange_->finish();
  }
  over(http_status(error.kind()));
}

void PullExchange::over(int status) {
  silence_.clear();
  const auto gone = gone_;  // this is destroyed by it
  gone(status);
}

}  // namespace rkllm_mcp::chat
