// Sends a stream to its client as it is generated: one token a chunk as long as the client keeps up. While its send
// queue is full, tokens wait in the stream, and are then sent several in one chunk.
#pragma once

#include "call/chunk_writer.hpp"
#include "call/value_text.hpp"
#include "jsonrpc/reply.hpp"
#include "memory_budget.hpp"
#include "side_thread.hpp"
#include "stream/stream_reader.hpp"

#include <deque>
#include <memory>
#include <string>
#include <utility>

namespace rkllm_mcp {

class PushReader : public StreamReader {
 public:
  // `retained` > 0 keeps that many of the last messages, to be sent again when a lossy transport's client asks.
  struct Options {
    ValueWriting values{};
    SideThread* writing = nullptr;  // where many values are written; null: on the event loop
    std::size_t retained = 0;
    MemoryBudget memory{};  // in which the retained messages count
  };

  // Chunks go through `reply`; its last message is the stream's last one.
  PushReader(Reply& reply, ChunkWriter writer, Options options)
      : reply_(reply.shared_from_this()),
        writer_(std::move(writer)),
        options_(std::move(options)),
        share_(options_.memory) {}

  // Sends a message ahead of the chunks. It belongs to the stream: send_all_again() repeats it.
  void announce(std::string announcement);
  // Sends what it retains from chunk `seq` on once more, as much as the client's send queue takes at a time; if there
  // is nothing from there on, an empty chunk that tells the next seq. False if chunk `seq` is no longer retained.
  bool send_again(std::uint64_t seq);
  // Sends all of the stream once more, for a client that repeats its request because it has heard nothing. Does nothing
  // if the beginning is no longer retained.
  void send_all_again();
  void client_gone() override;
  std::uint64_t first_retained() const { return sent_ - retained_.size(); }
  std::uint64_t last_seq() const { return sent_ == 0 ? 0 : sent_ - 1; }

 protected:
  void drain() override;
  void fail(const std::exception_ptr& fault) override;

 private:
  void send_last(std::string message);
  void sent(std::string message);
  void retain(std::string message);
  void send_end();

  std::shared_ptr<Reply> reply_;
  ChunkWriter writer_;
  const Options options_;
  bool ended_ = false;     // the last message has been sent
  bool waiting_ = false;   // for the client's send queue to drain
  bool resuming_ = false;  // it has drained: the tokens that have waited are sent several in one chunk
  std::string announcement_;
  std::deque<std::string> retained_;
  MemoryShare share_;  // the memory that the retained messages take
  std::uint64_t sent_ = 0;
};

}  // namespace rkllm_mcp
