// Texts become messages that count in the memory budget: short ones at once, long ones on a thread beside the event
// loop.
//
// Threads: event loop only; long messages are parsed on a thread of its own.
#pragma once

#include "counts.hpp"
#include "dispatch/reading_queue.hpp"
#include "immutable.hpp"
#include "jsonrpc/message.hpp"
#include "memory_budget.hpp"

#include <asio/io_context.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {

// Has the message hold `room`, which is given back when nothing that executes the message needs it any more.
void attach_share(Message& message, const std::optional<Immutable<MemoryShare>>& room);

class MessageReader {
 public:
  struct Options {
    MessageLimits limits;
    MemoryBudget memory{};     // without one, messages are bounded in number only
    Counts* counts = nullptr;  // of those for which there was no memory; null: nobody counts
  };
  // Who has sent a message, for as long as it waits to be parsed.
  struct Sender {
    std::string address;             // its source takes turns with others at being parsed: see source_of()
    std::function<bool()> is_there;  // whether it still waits for an answer
  };

  MessageReader(asio::io_context& loop, Options options) : options_(std::move(options)), queue_(loop) {}

  // On the loop: for what is not longer than kReadAtOnceBytes.
  Message parse(std::string_view text, NullIds null_ids = NullIds::kRefused) const;
  // Parses `text` and passes the message to `then`: at once, or, if the text is long, later, when it has been parsed
  // beside the loop. Where the sender has gone meanwhile, `then` is not called.
  using ReadFunction = std::function<void(const Message&)>;
  void read(std::string text, const Sender& sender, ReadFunction then, NullIds null_ids = NullIds::kRefused);

 private:
  // Takes memory for a message of that length until the returned share ends; nothing if there is no memory for it.
  std::optional<Immutable<MemoryShare>> room_for(std::size_t bytes) const;

  const Options options_;
  ReadingQueue queue_;  // of long messages
};

}  // namespace rkllm_mcp
