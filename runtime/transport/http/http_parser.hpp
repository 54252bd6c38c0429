// Reads HTTP/1.1 requests, fed in pieces of any size. Strict: whatever two readers could understand differently is
// refused, since that is what request smuggling lives on (RFC 9112, sections 2 to 7).
//
// No input or output happens here. Threads: none of its own; one caller at a time.
#pragma once

#include "memory_budget.hpp"
#include "transport/http/http_message.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp::http {

struct ParserLimits {
  std::size_t request_line_bytes = 8 * 1024;  // else 414
  std::size_t header_bytes{};                 // all fields together, else 431
  std::size_t headers = 100;                  // else 431
  std::size_t body_bytes{};                   // else 413
  // The longest body of a request whose sender `identify` does not know; a longer one is refused with 401. Where
  // `identify` is null this limit does not hold.
  std::size_t stranger_body_bytes = static_cast<std::size_t>(-1);
  Identify identify{};
  std::string remote{};   // where the requests come from, for `identify`
  MemoryBudget memory{};  // that bodies count in, else 503; none: they do not
};

// Why a request was refused: the status to answer with before the connection is closed.
struct Refusal {
  int status;
  std::string explanation;
  std::size_t body_bytes = 0;  // with 413: how long the body would be, as far as its client has told
  bool is_guess = false;       // with 401: a token was presented, and it is nobody's
};

class Parser {
 public:
  explicit Parser(const ParserLimits& limits)
      : limits_(limits), body_limit_(limits.body_bytes), share_(limits.memory) {}

  // Takes bytes up to the end of the current request, at most; says how many. Takes nothing once complete or refused.
  std::size_t feed(std::string_view bytes);

  bool started() const { return state_ != State::kRequestLine || !line_.empty(); }
  bool in_body() const { return state_ >= State::kBody && state_ < State::kComplete; }
  bool complete() const { return state_ == State::kComplete; }
  const std::optional<Refusal>& refusal() const { return refusal_; }
  const Request& so_far() const { return request_; }  // what has been read of the request

  Request take();  // the complete request; the parser is then ready for the next one
  // True once per request: the client waits for "100 Continue" before it sends the body.
  bool take_continue();

 private:
  // In the order of a request; those from kBody to before kComplete are its body.
  enum class State { kRequestLine, kHeaders, kBody, kChunkSize, kChunk, kChunkEnd, kTrailers, kComplete, kRefused };

  std::optional<std::string_view> take_line(std::string_view& bytes);
  void on_line(std::string_view line);
  void on_request_line(std::string_view line);
  void on_target(std::string_view target);
  void on_version(std::string_view version);
  void on_header(std::string_view line, bool is_trailer);
  void on_headers_end();
  void on_host();
  void on_framing();
  void on_content_length();
  void on_chunk_size(std::string_view line);
  void on_body_bytes(std::string_view& bytes);
  bool append_body(std::string_view bytes);  // false if there is no memory for them
  std::size_t line_limit() const;
  void refuse(int status, std::string_view explanation);
  void refuse_long_line();
  void refuse_body(std::size_t bytes);

  ParserLimits limits_;
  State state_ = State::kRequestLine;
  std::string line_;        // the current line so far, when it came in several pieces; kept until it is handled
  bool line_done_ = false;  // line_ has been handed out and is to be forgotten
  bool skipped_empty_line_ = false;
  std::size_t header_bytes_ = 0;  // of this request, trailers included
  std::size_t header_count_ = 0;
  std::size_t body_limit_;  // of this request
  bool from_stranger_ = false;
  MemoryShare share_;          // what the body takes so far
  std::size_t remaining_ = 0;  // of the body or the chunk
  bool expects_continue_ = false;
  Request request_;
  std::optional<Refusal> refusal_;
};

}  // namespace rkllm_mcp::http
