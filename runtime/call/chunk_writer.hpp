// Packs the chunks of one stream as messages of the direct dialect. The envelope is formatted once, so that a token
// costs an escape and a number.
//
// Two forms exist: replies, which repeat the request's id and carry {"result":{"chunk":{...}}}, and notifications,
// which carry {"params":{"stream_id":...,"seq":...,"delta":...,"end":...}} and no id.
#pragma once

#include "jsonrpc/message.hpp"
#include "stream/token_stream.hpp"

#include <rkllm_mcp/errors.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// What the last chunk of a run says besides its text: {"state":...,"status":0,"perf":{...}}, plus "aborted":true if so.
Json ending_of(const CallOutcome& outcome);

class ChunkWriter {
 public:
  static ChunkWriter replies(const RequestId& id, std::string_view method);
  static ChunkWriter notifications(std::string_view method, std::string_view stream_id);

  // The next chunk. seq counts by itself.
  std::string chunk(const Chunk& chunk);
  // A chunk with the next seq that is empty and does not use that seq up.
  std::string nothing_new() const;
  // A message that is no chunk: it tells how many calls are before this run in the queue; 0 when the run begins.
  std::string queue_position(std::size_t calls_before) const;
  // The chunk that ends the stream, with the rest of its text, if any.
  std::string end(const Chunk& rest, const CallOutcome& outcome);
  // The message that ends the stream with an error.
  std::string failure(const RpcError& error) const;

  std::uint64_t next_seq() const { return seq_; }
  // From now on the chunks answer this id: each poll of a stream has one of its own.
  void answer_as(const RequestId& id);
  // Bytes of a message besides its escaped text.
  std::size_t overhead_bytes() const { return opening_.size() + closing_.size() + 96; }

 private:
  enum class Form { kReply, kNotification };
  ChunkWriter(Form form, std::string method) : form_(form), method_(std::move(method)) {}

  std::string start(const Chunk& chunk) const;

  Form form_;
  std::string method_;
  std::string stream_id_;  // of notifications
  RequestId id_;
  std::string opening_;  // up to and including "seq":
  std::string closing_;  // after the chunk's members
  std::uint64_t seq_ = 0;
};

}  // namespace rkllm_mcp
