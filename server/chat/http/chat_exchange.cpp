#include "chat/http/chat_exchange.hpp"

#include "chat/dialects/field_table.hpp"
#include "faults.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr std::chrono::milliseconds kLater{1000};  // memory for an answer that waits is looked for again

}  // namespace

void add_request_id(http::Headers& headers, Surface surface, std::string_view request_id) {
  if (!request_id.empty()) headers.add(surface == Surface::kAnthropic ? "request-id" : "x-request-id", request_id);
}

void add_ignored_fields(http::Headers& headers, const std::vector<std::string>& fields) {
  if (const std::string ignored = ignored_header(fields); !ignored.empty()) headers.add("x-rkllm-ignored", ignored);
}

int send_error(http::Exchange& exchange, Surface surface, const TurnError& error, std::string_view request_id) {
  const ErrorReply reply = error_reply(surface, error, request_id);
  http::Headers headers{{"Cache-Control", "no-store"}};
  add_request_id(headers, surface, request_id);
  if (!reply.retry_after.empty()) headers.add("Retry-After", reply.retry_after);
  if (error.kind() == ErrorKind::kUnauthorized) headers.add("WWW-Authenticate", "Bearer");
  exchange.respond({reply.status, headers, "application/json", reply.body});
  return reply.status;
}

ChatExchange::ChatExchange(asio::io_context& loop, http::Exchange& exchange, ChatJob job, Options options,
                           std::function<void(int status)> gone)
    : exchange_(exchange.shared_from_this()),
      job_(std::move(job)),
      options_(std::move(options)),
      gone_(std::move(gone)),
      patience_(loop,
                [this] {
                  if (has_room()) return go_on();
                  patience_.set_after(kLater);
                }),
      silence_(loop, [this] {
        if (exchange_->closed()) return;
        silence_.set_after(options_.heartbeat);  // first: without memory for a heartbeat the next one is tried
        write(job_.stream->heartbeat());
      }) {}

void ChatExchange::begin(ChatHost& host, const Asker& asker, const std::string& peer) {
  Turn turn = std::move(job_.turn);
  running_ = host.start(std::move(turn), asker, peer, *this);
  if (job_.stream) silence_.set_after(options_.heartbeat);
}

void ChatExchange::queued(std::size_t places_before) {
  if (!position_) position_ = places_before;
}

void ChatExchange::begun(const TurnBeginning& beginning) {
  for (const std::string& field : beginning.ignored) {
    if (std::ranges::find(job_.ignored, field) == job_.ignored.end()) job_.ignored.push_back(field);
  }
  dropped_ = beginning.dropped_messages;
  search_failed_ = beginning.search_failed;
  conversation_ = beginning.conversation;
  if (!job_.stream) return;
  TurnBeginning told = beginning;
  told.ignored = job_.ignored;
  job_.stream->begun(told);
}

http::Headers ChatExchange::headers() const {
  http::Headers headers{{"Cache-Control", "no-store"}};
  add_request_id(headers, options_.surface, options_.request_id);
  headers.add("x-rkllm-queue-position", std::to_string(position_.value_or(0)));
  add_ignored_fields(headers, job_.ignored);
  if (options_.is_simulated) headers.add("x-rkllm-simulated", "true");
  if (dropped_ > 0) headers.add("x-rkllm-dropped-messages", std::to_string(dropped_));
  if (search_failed_) headers.add("x-rkllm-search", "failed");
  return headers;
}

void ChatExchange::write(const std::string& piece) {
  if (exchange_->closed()) return;
  if (!has_headers_) {
    http::Headers all = headers();
    all.add("Content-Type", job_.stream->content_type());
    all.add("X-Accel-Buffering", "no");
    exchange_->start_stream(200, all);
    has_headers_ = true;  // not if that has thrown
  }
  if (!piece.empty()) exchange_->write(piece);
  if (!is_held_) silence_.set_after(options_.heartbeat);
  hold_if_full();
}

void ChatExchange::hold_if_full() {
  if (is_held_ || exchange_->ready() || has_fault("a run does not wait for who reads its answer slowly")) return;
  const bool has_waited = options_.most_held && held_ >= *options_.most_held;
  if (has_waited && has_room()) return;
  is_held_ = true;
  held_since_ = Clock::now();
  silence_.clear();  // it has not read yet what was sent
  if (running_) running_->hold();
  if (options_.most_held) patience_.set_after(has_waited ? kLater : *options_.most_held - held_);
  exchange_->when_ready([weak = weak_from_this()] {
    if (const auto alive = weak.lock()) alive->go_on();
  });
}

void ChatExchange::go_on() {
  if (!is_held_ || is_over_) return;
  is_held_ = false;
  held_ += Clock::now() - held_since_;
  patience_.clear();
  silence_.set_after(options_.heartbeat);
  if (running_) running_->go_on();
}

bool ChatExchange::has_room() const {
  constexpr std::size_t kSomeBytes = 4096;
  return exchange_->has_room_for(kSomeBytes);
}

// Signs of life may follow while an assistant still sums up what was said, and nothing follows an end.
void ChatExchange::tell_ended() {
  if (const auto told = std::exchange(ended_, std::nullopt)) write(job_.stream->end(told->end, told->answer));
}

void ChatExchange::event(const AnswerEvent& event, std::size_t answer) {
  if (!job_.stream || job_.kept_items) {
    if (answers_.size() <= answer) answers_.resize(answer + 1);
    append(answers_[answer], event);
  }
  if (!job_.stream) return;
  tell_ended();  // of the answer before it
  write(job_.stream->event(event, answer));
}

void ChatExchange::ended(const AnswerEnd& end, std::size_t answer) {
  if (job_.stream) {
    tell_ended();
    ended_ = Ended{end, answer};
    if (has_fault("signs of life follow the end of an answer")) tell_ended();
    if (!job_.kept_items) return;
  }
  if (answers_.size() <= answer) answers_.resize(answer + 1);
  answers_[answer].end = end;
}

// A client may go on from a response as soon as it has read its end (previous_response_id): so the response is kept
// first, and its end told afterwards. One that cannot be kept is told all the same, since it was made: to ask for it
// again would help nobody.
void ChatExchange::finished(const Usage& sum) {
  if (!job_.kept_items) return tell_end(sum);
  const auto told = [weak = weak_from_this(), sum](const std::optional<TurnError>& error) {
    const auto alive = weak.lock();
    if (!alive || alive->is_over_) return;
    if (error) alive->not_kept(*error);
    alive->tell_end(sum);
  };
  Json items = job_.kept_items(answers_.at(0));
  if (has_fault("who has read the end of an answer cannot go on from it yet")) told(std::nullopt);
  if (has_fault("a response is not kept")) return told(std::nullopt);
  if (has_fault("a response is kept twice")) options_.responses->keep(job_.id, options_.asker, items, told);
  options_.responses->keep(job_.id, options_.asker, std::move(items), told);
}

void ChatExchange::not_kept(const TurnError& error) {
  if (options_.warn_of_unkept) options_.warn_of_unkept(job_.id, error.what());
  job_.ignored.emplace_back("store");
  job_.whole = std::move(job_.whole_unkept);
  if (job_.stream) job_.stream->not_kept();
}

void ChatExchange::tell_end(const Usage& sum) {
  constexpr int kOk = 200;
  if (job_.stream) {
    tell_ended();
    write(job_.stream->finish(sum));
    if (!exchange_->closed()) exchange_->finish();
  } else {
    exchange_->respond({kOk, headers(), "application/json", job_.whole(answers_, sum, conversation_)});
  }
  over(kOk);
}

void ChatExchange::failed(const TurnError& error) {
  if (!has_headers_) return over(send_error(*exchange_, options_.surface, error, options_.request_id));
  if (!job_.kept_items) tell_ended();  // of the answer before the one that failed
  if (!has_fault("an answer that breaks off looks as if it had ended")) write(job_.stream->error(error));
  if (!exchange_->closed()) exchange_->finish();
  over(http_status(error.kind()));
}

void ChatExchange::over(int status) {
  is_over_ = true;
  patience_.clear();
  silence_.clear();
  const auto gone = gone_;  // this is destroyed by it
  gone(status);
}

}  // namespace rkllm_mcp::chat
