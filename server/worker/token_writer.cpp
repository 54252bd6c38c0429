#include "worker/token_writer.hpp"

#include <algorithm>
#include <utility>

namespace rkllm_mcp {
namespace {

// Tokens that come this soon after others were sent wait for more, but no longer, and no more than so many bytes.
constexpr std::chrono::microseconds kPause{250};
constexpr std::size_t kFrameIsFull = 8 * 1024;

}  // namespace

TokenWriter::TokenWriter(std::shared_ptr<FrameSocket> socket)
    : socket_(std::move(socket)), thread_([this] { flush_late_ones(); }) {}

TokenWriter::~TokenWriter() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  news_.notify_one();
  thread_.join();
}

// Without memory for a token the process ends, as it must not be missing.
template <class Act>
void TokenWriter::guarded(const Act& act) noexcept {
  try {
    if (!nobody_reads_) act();
  } catch (const PeerGone&) {
    nobody_reads_ = true;
    waiting_.clear();
  }
}

void TokenWriter::open(std::uint32_t call) {
  const std::lock_guard lock(mutex_);
  open_ = call;
}

void TokenWriter::close() {
  const std::lock_guard lock(mutex_);
  guarded([this] { flush(); });
  open_ = kNone;
}

void TokenWriter::add(std::uint32_t call, const TokenRecord& token) noexcept {
  const std::lock_guard lock(mutex_);
  if (call != open_) return;
  guarded([&] {
    TokenRecord rest = token;
    while (rest.text && rest.text->size() > kMostTextInRecord) {
      add_record({rest.batch, rest.text->substr(0, kMostTextInRecord), kNoTokenId});
      rest.text->remove_prefix(kMostTextInRecord);
    }
    add_record(rest);
  });
}

void TokenWriter::add_record(const TokenRecord& token) {
  append_token(waiting_, token);
  if (waiting_.size() >= kFrameIsFull || Clock::now() - last_sent_ >= kPause) return flush();
  if (sleeping_) news_.notify_one();
}

void TokenWriter::add(std::uint32_t call, const FloatRows& rows) noexcept {
  const std::lock_guard lock(mutex_);
  if (call != open_) return;
  guarded([&] {
    flush();
    send_rows(rows);
  });
}

void TokenWriter::send_rows(const FloatRows& rows) {
  std::string first;
  append_rows_head(first, rows);
  std::string_view left(reinterpret_cast<const char*>(rows.values), rows.rows * rows.columns * sizeof(float));
  const std::size_t fits = (kMaxFrameBytes - first.size()) / sizeof(float) * sizeof(float);
  first += left.substr(0, fits);
  left.remove_prefix(std::min(fits, left.size()));
  socket_->send({.type = FrameType::kRows, .flags = kBegins, .call = open_}, first);
  while (!left.empty()) {
    const auto part = left.substr(0, kMaxFrameBytes);
    left.remove_prefix(part.size());
    socket_->send({.type = FrameType::kRows, .call = open_}, part);
  }
}

void TokenWriter::flush() {
  if (waiting_.empty()) return;
  socket_->send({.type = FrameType::kTokens, .call = open_}, waiting_);
  waiting_.clear();
  last_sent_ = Clock::now();
}

void TokenWriter::flush_late_ones() {
  std::unique_lock lock(mutex_);
  while (true) {
    sleeping_ = true;
    news_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    sleeping_ = false;
    if (ending_) return;
    const auto due = last_sent_ + kPause;
    if (Clock::now() < due) {
      news_.wait_until(lock, due, [this] { return ending_; });
    } else {
      guarded([this] { flush(); });
    }
  }
}

}  // namespace rkllm_mcp
