// Cuts a stream of bytes into lines: the framing of stdio and TCP. A line ends with "\n" or "\r\n"; empty lines are
// nothing; a line beyond the limit is reported once, as soon as that is known, and skipped to its end. What stands
// unterminated at the end of the input counts as a line, as people expect who pipe from printf.
//
// No input or output happens here. Threads: none of its own; one caller at a time.
#pragma once

#include "memory_budget.hpp"
#include "transport/peer.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {

class LineFramer {
 public:
  explicit LineFramer(std::size_t limit, std::shared_ptr<MemoryBudget> memory = {})
      : limit_(limit), share_(std::move(memory)) {}

  void set_limit(std::size_t limit) { limit_ = limit; }

  // The views that `receive` gets are gone when it returns.
  void feed(std::string_view bytes, const ReceiveFunction& receive);
  // As feed(), but stops behind the end of one line. Returns how many bytes it has taken.
  std::size_t feed_line(std::string_view bytes, const ReceiveFunction& receive);
  void finish(const ReceiveFunction& receive);  // the input has ended
  // Inside a line, of which some has come.
  bool is_inside() const { return skipping_ || !partial_.empty(); }

 private:
  void keep(std::string_view part, const ReceiveFunction& receive);
  void skip_rest();
  void deliver_kept(const ReceiveFunction& receive);
  void deliver(std::string_view line, const ReceiveFunction& receive) const;

  std::size_t limit_;
  std::string partial_;    // the line so far, when it came in several pieces
  MemoryShare share_;      // the memory that partial_ takes
  bool skipping_ = false;  // inside a line that has been reported as too long
};

}  // namespace rkllm_mcp
