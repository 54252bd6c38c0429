// How answers go out: what all dialects have in common. A dialect only puts words around what a turn has made; it makes
// no decisions, reads no clock and opens no socket.
#pragma once

#include "chat/turn/answer.hpp"
#include "chat/turn/turn_error.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

// What a reply says of itself; made by the server.
struct ReplyFacts {
  std::string id;              // "chatcmpl-..."; unique
  std::string model;           // as the client named it
  std::int64_t created_s = 0;  // seconds since 1970
  std::string created_iso{};   // created_s as ISO 8601: Ollama's form
  std::string request_id{};    // that the headers have: errors in Anthropic's streams name it
  std::string fingerprint{};   // with a profile: the conversation; empty: none
};

// A whole HTTP answer to a request that has failed before anything was sent.
struct ErrorReply {
  int status = 500;
  std::string body{};         // JSON
  std::string retry_after{};  // the header's value; empty: no header
};

// A stream of one dialect. What the functions return is to be sent as it is: whole messages, or nothing. No text
// in an answer can end a message, heartbeats do not change the answer, and behind error() no end of it is sent.
// `answer` counts the answers of one request (n above 1), which come one after the other. Not for several threads.
class ReplyStream {
 public:
  virtual ~ReplyStream() = default;

  // The Content-Type of the whole.
  virtual std::string_view content_type() const { return "text/event-stream"; }
  // Before an answer's first event, but perhaps behind heartbeats. `beginning.ignored` has the request's fields, too.
  virtual void begun(const TurnBeginning& beginning) { notices_ = notices_of(beginning); }
  // How far the answer is, before the events of its next token.
  virtual void progress(const AnswerProgress& /*progress*/) {}
  virtual std::string event(const AnswerEvent& event, std::size_t answer) = 0;
  // Nothing has come for a while; shaped as the protocol has it, since some clients stumble over SSE comments.
  virtual std::string heartbeat() = 0;
  // The answer that was to be kept cannot be, before its end.
  virtual void not_kept() {}
  // One answer has ended.
  virtual std::string end(const AnswerEnd& end, std::size_t answer) = 0;
  // All have. `sum`: the usage of all of them.
  virtual std::string finish(const Usage& sum) = 0;
  // The turn has failed in the middle: the last thing that is sent.
  virtual std::string error(const TurnError& error) = 0;

 protected:
  // The member "rkllm" of the end of an answer; null: nothing is to be told. The headers say the same, where they have
  // not gone out with a heartbeat before it was known.
  const Json& notices() const { return notices_; }
  // notices() as the text of a member behind others: ,"rkllm":...; empty: none.
  std::string notices_member() const;
  // One more field of the request that could not be honoured.
  void add_ignored(std::string_view field) { notices_["ignored"].push_back(field); }

 private:
  static Json notices_of(const TurnBeginning& beginning);

  Json notices_;
};

// "data: ...\n\n", and with an event's name before it.
std::string sse_data(std::string_view data);
std::string sse_event(std::string_view name, std::string_view data);

// Null for what is not known.
Json number_or_null(std::optional<std::int64_t> number);

// The HTTP status of an error, where all dialects agree; Anthropic has its own for some.
int http_status(ErrorKind kind);
// The value of Retry-After; empty: none.
std::string retry_after(const TurnError& error);

}  // namespace rkllm_mcp::chat
