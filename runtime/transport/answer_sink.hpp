// The answer to one request, as the layers above a transport see it: it ends the request, with a last message or
// without one. Messages before the last go to the peer itself.
//
// Nothing here has a default, so that an answer which stands in front of another one (that of a batch) cannot forget to
// pass something on.
//
// Threads: event loop only.
#pragma once

#include <rkllm_mcp/errors.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace rkllm_mcp {

class Peer;

class AnswerSink {
 public:
  explicit AnswerSink(Peer& peer) : peer_(peer) {}
  AnswerSink(const AnswerSink&) = delete;
  AnswerSink& operator=(const AnswerSink&) = delete;
  virtual ~AnswerSink() = default;

  Peer& peer() const { return peer_; }  // whom it goes to
  // For whoever answers later: keeps the answer and its peer alive.
  virtual std::shared_ptr<AnswerSink> keep() = 0;

  // Called once for each message that is to be answered or passed over: it will end with last() or none(). Until then
  // UDP does not drop the peer to make room for another one; a long silence, or an address that cannot be reached,
  // still ends it.
  virtual void expected() = 0;
  // The last message. `error`: its code, if it is an error, for HTTP has a status of its own for some. If it throws,
  // the request is still to be answered.
  virtual void last(std::string message, std::optional<ErrorCode> error) = 0;
  // The request ends without a message.
  virtual void none() = 0;
  // Ends the response for now; the client asks for the rest after `pause`. Does nothing unless the client can do that
  // (an event stream over HTTP that can be resumed).
  virtual void resume_after(std::chrono::milliseconds pause) = 0;
  // The request was that of a client that has not proved who it is: ends its connection, when the answer has been sent.
  // Transports without connections do nothing.
  virtual void refuse() = 0;
  // Whether there is memory for so many bytes more, as a last message or before it.
  virtual bool has_room_for(std::size_t bytes) const = 0;

 private:
  Peer& peer_;
};

}  // namespace rkllm_mcp
