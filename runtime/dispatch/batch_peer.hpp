// The client of one batch: its answers are gathered and sent as one array, when the last is there. Everything else
// passes through. Event loop only.
#pragma once

#include "jsonrpc/envelope.hpp"
#include "memory_budget.hpp"
#include "put_back.hpp"
#include "run_loop.hpp"
#include "transport/peer.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {

class BatchPeer final : public Peer {
 public:
  // `messages`: how many there are, of which each ends with send_last() or end_unanswered(). Its answers count in
  // `memory`, until they are sent.
  BatchPeer(Peer& client, std::size_t messages, MemoryBudget memory)
      : client_(client.shared_from_this()), open_(messages), share_(std::move(memory)) {}

  void send(std::string_view message) override { client_->send(message); }
  // If it throws, the message is still to be answered.
  void send_last(std::string message) override {
    if (open_ == 0) return;
    answers_.reserve(answers_.size() + message.size() + 2);  // from here on there is memory for it, and for the end
    answers_ += answers_.empty() ? '[' : ',';
    answers_ += message;
    share_.set(answers_.capacity());
    end_one();
  }
  void end_unanswered() override { end_one(); }
  // Their answers travel in one message, which is expected once, and is no error of one of them.
  void expects_answer() override {
    if (!std::exchange(is_expected_, true)) client_->expects_answer();
  }
  void answers_with(ErrorCode /*code*/) override {}
  void release(std::chrono::milliseconds pause) override { client_->release(pause); }
  void hold_input() override { client_->hold_input(); }
  void resume_input() override { client_->resume_input(); }
  void close() override { client_->close(); }
  // What the batch has gathered is sent first.
  void refuse() override {
    if (open_ == 0) return client_->refuse();
    is_refused_ = true;
  }
  void proved() override { client_->proved(); }
  std::string_view credential() const override { return client_->credential(); }
  TransportKind transport() const override { return client_->transport(); }
  std::string address() const override { return client_->address(); }
  std::size_t max_message_bytes() const override { return client_->max_message_bytes(); }
  std::size_t preferred_chunk_bytes() const override { return client_->preferred_chunk_bytes(); }
  bool takes_messages() const override { return client_->takes_messages(); }
  bool ready() const override { return client_->ready(); }
  void when_ready(std::function<void()> action) override {
    if (is_put_back("the streams of a batch never hear that their client takes more")) return;
    client_->when_ready(std::move(action));
  }
  bool closed() const override { return client_->closed(); }
  bool has_room_for(std::size_t bytes) const override {
    return share_.has_room_for(bytes) && client_->has_room_for(bytes);
  }

  // The client has gone.
  void gone() { became_closed(); }

 private:
  void end_one() {
    if (open_ == 0 || --open_ > 0) return;
    send_answers();
    if (is_refused_) client_->refuse();
  }
  void send_answers() {
    if (answers_.empty()) return client_->end_unanswered();
    answers_ += ']';
    share_.set(0);  // as soon as they are sent they count as what waits for the client
    or_else([this] { client_->send_last(std::move(answers_)); },
            [this] { client_->send_last(error_message(RequestId(kNullId), no_memory())); });
    answers_ = {};
  }

  const std::shared_ptr<Peer> client_;
  std::size_t open_;
  bool is_expected_ = false;
  bool is_refused_ = false;  // to be told when the last has ended
  std::string answers_;
  MemoryShare share_;  // what they take
};

}  // namespace rkllm_mcp
