// Cuts a stream of bytes into lines, the framing of stdio and TCP; and tells by its first bytes whether it is one of
// messages at all. A line ends with "\n" or "\r\n"; empty lines are nothing; a line beyond the limit is reported once,
// as soon as that is known, and skipped to its end. What stands unterminated at the end of the input counts as a line,
// as people expect who pipe from printf.
//
// No input or output happens here. Threads: none of its own; one caller at a time.
#pragma once

#include "memory_budget.hpp"
#include "transport/peer.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {

class LineFramer {
 public:
  explicit LineFramer(std::size_t limit, MemoryBudget memory = {}) : limit_(limit), share_(std::move(memory)) {}

  void set_limit(std::size_t limit) { limit_ = limit; }

  // Takes bytes off the front of `bytes`, to the end of a line at most, and gives what that has brought: the line, or
  // word of one that could not be taken; nothing for an empty line, and for one whose end is still to come. What it
  // points at is gone with the next call, and with release().
  std::optional<Received> next(std::string_view& bytes);
  // The input has ended: what stands unterminated, if anything.
  std::optional<Received> finish();
  // What the latest call has given is not needed any more: a long line's memory goes.
  void release();
  // Inside a line, of which some has come.
  bool is_inside() const { return skipping_ || (!partial_.empty() && !is_given_); }

 private:
  std::optional<Received> keep(std::string_view part);  // what cannot be kept is skipped, and reported
  std::optional<Received> kept();
  std::optional<Received> whole(std::string_view line) const;

  std::size_t limit_;
  std::string partial_;    // the line so far, when it came in several pieces
  MemoryShare share_;      // the memory that partial_ takes
  bool is_given_ = false;  // partial_ is what the latest call has given
  bool skipping_ = false;  // inside a line that has been reported: too long, or no memory for it
};

// Tells whether a connection that takes lines of JSON is spoken to in JSON at all. A web page can make a browser send a
// request to any local port, and tools take any port for one of HTTP or TLS: a line of such a request's body must not
// be executed as a message. The first byte that is no JSON white space decides: of all texts that a message can be, and
// of no other protocol's, it is { or [.
class FirstBytes {
 public:
  // Drops the white space that the connection begins with, here from the front of the next `bytes`. False if what
  // follows is no message; once that is so it stays so.
  bool allow(std::string_view& bytes);

 private:
  enum class Content { kUndecided, kMessages, kOther };

  Content content_ = Content::kUndecided;
};

}  // namespace rkllm_mcp
