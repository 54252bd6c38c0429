// The answer to the messages of one batch: gathered, and sent as one array when the last is there. Event loop only.
#pragma once

#include "jsonrpc/envelope.hpp"
#include "memory_budget.hpp"
#include "run_loop.hpp"
#include "transport/answer_sink.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace rkllm_mcp {

class BatchAnswer final : public AnswerSink, public std::enable_shared_from_this<BatchAnswer> {
 public:
  // `whole` answers the batch. `messages`: how many there are, of which each ends with last() or none(). The answers
  // count in `memory`, until they are sent.
  BatchAnswer(AnswerSink& whole, std::size_t messages, MemoryBudget memory)
      : AnswerSink(whole.peer()), whole_(whole.keep()), open_(messages), share_(std::move(memory)) {}

  std::shared_ptr<AnswerSink> keep() override { return shared_from_this(); }
  // The answers of a batch travel in one message. So it is expected once only, and when it is sent it does not count as
  // an error, whatever is in it.
  void expected() override {
    if (!std::exchange(is_expected_, true)) whole_->expected();
  }
  void last(std::string message, std::optional<ErrorCode> /*error*/) override {
    if (open_ == 0) return;
    answers_.reserve(answers_.size() + message.size() + 2);  // from here on there is memory for it, and for the end
    answers_ += answers_.empty() ? '[' : ',';
    answers_ += message;
    share_.set(answers_.capacity());
    end_one();
  }
  void none() override { end_one(); }
  void resume_after(std::chrono::milliseconds pause) override { whole_->resume_after(pause); }
  // What the batch has gathered is sent first.
  void refuse() override {
    if (open_ == 0) return whole_->refuse();
    is_refused_ = true;
  }
  bool has_room_for(std::size_t bytes) const override {
    return share_.has_room_for(bytes) && whole_->has_room_for(bytes);
  }

 private:
  void end_one() {
    if (open_ == 0 || --open_ > 0) return;
    send_answers();
    if (is_refused_) whole_->refuse();
  }
  void send_answers() {
    if (answers_.empty()) return whole_->none();
    answers_ += ']';
    share_.set(0);  // as soon as they are sent they count as what waits for the client
    or_else([this] { whole_->last(std::move(answers_), std::nullopt); },
            [this] { whole_->last(error_message(RequestId(kNullId), no_memory()), std::nullopt); });
    answers_ = {};
  }

  const std::shared_ptr<AnswerSink> whole_;
  std::size_t open_;
  bool is_expected_ = false;
  bool is_refused_ = false;  // whole_->refuse() is to be called when the last has ended
  std::string answers_;
  MemoryShare share_;  // what they take
};

}  // namespace rkllm_mcp
