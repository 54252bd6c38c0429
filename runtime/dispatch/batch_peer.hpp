// The client of one batch: its answers are gathered and sent as one array, when the last is there. Everything else
// passes through. Event loop only.
#pragma once

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
  // `messages`: how many there are, of which each ends with send_last() or end_unanswered().
  BatchPeer(std::shared_ptr<Peer> client, std::size_t messages) : client_(std::move(client)), open_(messages) {}

  void send(std::string_view message) override { client_->send(message); }
  void send_last(std::string_view message) override {
    answers_ += answers_.empty() ? "[" : ",";
    answers_ += message;
    end_one();
  }
  void end_unanswered() override { end_one(); }
  void close() override { client_->close(); }
  void refuse() override { client_->refuse(); }
  void proved() override { client_->proved(); }
  std::string_view credential() const override { return client_->credential(); }
  TransportKind transport() const override { return client_->transport(); }
  std::string address() const override { return client_->address(); }
  std::size_t max_message_bytes() const override { return client_->max_message_bytes(); }
  std::size_t preferred_chunk_bytes() const override { return client_->preferred_chunk_bytes(); }
  bool takes_messages() const override { return client_->takes_messages(); }
  bool ready() const override { return client_->ready(); }
  void when_ready(std::function<void()> action) override { client_->when_ready(std::move(action)); }
  bool closed() const override { return client_->closed(); }

  // The client has gone.
  void gone() { became_closed(); }

 private:
  void end_one() {
    if (--open_ > 0) return;
    if (answers_.empty()) return client_->end_unanswered();
    client_->send_last(answers_ + "]");
  }

  const std::shared_ptr<Peer> client_;
  std::size_t open_;
  std::string answers_;
};

}  // namespace rkllm_mcp
