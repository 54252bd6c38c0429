#include "process/printed_lines.hpp"

#include "text/shown.hpp"

#include <rkllm_mcp/errors.hpp>

#include <cstddef>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kLongestKept = 4096;  // what is beyond becomes a line of its own
constexpr std::size_t kErrorsKept = 8;

}  // namespace

void PrintedLines::take(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  for (const char byte : bytes) {
    if (byte == '\n' || partial_.size() == kLongestKept) finish_line();
    // Nothing that would break a line of a log, or speak to a terminal.
    const std::size_t control = byte == '\t' ? 0 : control_character_bytes(partial_, byte);
    if (control == 2) partial_.pop_back();
    if (byte != '\n') partial_ += control != 0 ? '?' : byte;
  }
}

void PrintedLines::end() {
  const std::lock_guard lock(mutex_);
  if (!partial_.empty()) finish_line();
}

void PrintedLines::finish_line() {
  ++count_;
  if (partial_.starts_with("E ")) {
    errors_.push_back({count_, shortened(partial_, kErrorBytes)});
    if (errors_.size() > kErrorsKept) errors_.pop_front();
  }
  if (!partial_.empty()) line_(partial_);
  partial_.clear();
}

std::vector<std::string> PrintedLines::errors_since(std::uint64_t lines) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> texts;
  for (const ErrorLine& error : errors_) {
    if (error.number > lines) texts.push_back(error.text);
  }
  return texts;
}

}  // namespace rkllm_mcp
