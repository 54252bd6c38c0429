// Keeps a stream until its client asks, and finds it by its id: for transports that cannot push.
//
// Tokens stay raw in the stream's buffer; each poll packs what waits for one entry of a batch, as much as one message
// holds. A buffer that nobody polls for
// `expiry` after its first token (or after the last poll, whichever is later) is discarded and its run aborted.
#pragma once

#include "call/chunk_writer.hpp"
#include "call/value_text.hpp"
#include "deadline.hpp"
#include "jsonrpc/reply.hpp"
#include "side_thread.hpp"
#include "stream/stream_reader.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace rkllm_mcp {

// Error 4003. Its message is fixed by the protocol.
RpcError stream_not_found();
// Error 4003 for chunks that are not kept any more. Its data has both numbers, so that a client whose poll arrived late
// sees whether it still lacks the chunks that it asked for.
RpcError chunks_not_found(std::uint64_t from_seq, std::uint64_t first_seq);

class PollReader : public StreamReader {
 public:
  struct Options {
    ValueWriting values{};
    SideThread* writing = nullptr;  // where many values are written; null: on the event loop
    std::chrono::milliseconds expiry{};
  };

  // `expired` is called (before finished) when nobody has polled in time; it aborts the run.
  PollReader(asio::io_context& loop, ChunkWriter writer, Options options, std::function<void()> expired)
      : expiry_(loop, [this] { expire(); }),
        patience_(loop, [this] { out_of_patience(); }),
        writer_(std::move(writer)),
        options_(std::move(options)),
        expired_(std::move(expired)) {}

  // Tells the client where to poll: sends `announcement` as the request's answer, at once if the run goes well, or the
  // error instead if the run fails within `patience` (bad parameters, say), so that nobody has to poll to learn that.
  void announce(Reply& reply, std::string announcement, std::chrono::milliseconds patience);

  // Answers with the next text of one entry of the batch, as much as one message holds. If there is none, waits up to
  // `wait`. A second poll that comes while one waits makes the first one answer with nothing new.
  void poll(Reply& reply, std::chrono::milliseconds wait);

 protected:
  void drain() override;
  void fail(const std::exception_ptr& fault) override;

 private:
  // The answer to a poll that finds no text: the place in the queue, if that is news, else an empty chunk.
  std::string nothing_yet();
  bool has_news() const {
    return stream()->waiting() || outcome_ || (!are_values_being_written_ && stream()->drained());
  }
  void take_outcome();  // once the run has ended and its text is taken; many values are first written beside the loop
  // As much as one message takes; where memory is short, a little. Nothing is taken that could not be sent.
  Chunk take_some(const Reply& reply);
  void answer(Reply& reply);
  // Sends the ending with the rest of the text, or says why it cannot be sent now. If it is too long ever to be sent,
  // and no text is left, the outcome becomes that error.
  std::optional<RpcError> send_ending(const Chunk& rest, Reply& reply);
  void answer_waiting();
  void announce_now();
  void restart_expiry();
  void expire();
  void out_of_patience();

  Deadline expiry_;    // of the buffer, while something waits in it
  Deadline patience_;  // until the announcement is sent, or a poll that waits is answered
  ChunkWriter writer_;
  const Options options_;
  const std::function<void()> expired_;
  std::shared_ptr<Reply> waiting_;
  std::shared_ptr<Reply> announcing_;
  std::string announcement_;
  bool expiry_running_ = false;
  bool are_values_being_written_ = false;
  std::optional<std::size_t> queue_position_;  // if no poll has been told of it yet
  std::optional<CallOutcome> outcome_;         // once all text has been taken; its values are text
  std::size_t ending_bytes_ = 0;               // least length of the message with the ending, without its id
};

// Streams that can be polled from anywhere by their unguessable id. Event loop only.
class StreamRegistry {
 public:
  void add(const std::string& stream_id, std::weak_ptr<PollReader> reader) { readers_[stream_id] = std::move(reader); }
  void remove(const std::string& stream_id) { readers_.erase(stream_id); }
  // Expired if there is none (any more).
  std::weak_ptr<PollReader> find(const std::string& stream_id) const {
    const auto found = readers_.find(stream_id);
    return found == readers_.end() ? std::weak_ptr<PollReader>() : found->second;
  }

 private:
  std::unordered_map<std::string, std::weak_ptr<PollReader>> readers_;
};

}  // namespace rkllm_mcp
