#include "worker/token_writer.hpp"

#include <algorithm>
#include <utility>

namespace rkllm_mcp {
namespace {

// A token that comes within this time after others were sent waits for more: until the time is over, or so many bytes
// have gathered.
constexpr std::chrono::microseconds kPause{250};
constexpr std::size_t kFrameIsFull = 8 * 1024;

}  // namespace

// Sends what the run of one call produces. If the library never ends the run properly, it may call at any later time.
class TokenWriter::RunFrames final : public CallObserver {
 public:
  RunFrames(TokenWriter& writer, std::uint32_t call) : writer_(writer.shared_from_this()), call_(call) {}

  // Without memory for a token the process ends, as it must not be missing.
  void on_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t token_id) noexcept override;
  void on_rows(const FloatRows& rows) noexcept override;
  void on_done(CallOutcome) noexcept override {}
  bool wants_to_stop() const noexcept override { return writer_->nobody_reads(); }

 private:
  const std::shared_ptr<TokenWriter> writer_;
  const std::uint32_t call_;
};

TokenWriter::TokenWriter(Descriptor socket) : socket_(std::move(socket)), thread_([this] { flush_late_ones(); }) {}

TokenWriter::~TokenWriter() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  news_.notify_one();
  thread_.join();
}

void TokenWriter::RunFrames::on_token(std::size_t batch, std::optional<std::string_view> text,
                                      std::int32_t token_id) noexcept {
  const std::lock_guard lock(writer_->mutex_);
  if (call_ != writer_->open_ || writer_->nobody_reads_) return;
  std::string& waiting = writer_->waiting_;
  // What is too long for one record goes ahead of its token.
  for (; text && text->size() > kMostTextInRecord; text->remove_prefix(kMostTextInRecord)) {
    append_token(waiting, {batch, text->substr(0, kMostTextInRecord), kNoTokenId});
    writer_->flush();
  }
  append_token(waiting, {batch, text, token_id});
  if (waiting.size() >= kFrameIsFull || Clock::now() - writer_->last_sent_ >= kPause) return writer_->flush();
  if (writer_->sleeping_) writer_->news_.notify_one();
}

void TokenWriter::RunFrames::on_rows(const FloatRows& rows) noexcept {
  const std::lock_guard lock(writer_->mutex_);
  if (call_ != writer_->open_) return;
  writer_->flush();
  if (!writer_->nobody_reads_) writer_->send_rows(rows);
}

std::shared_ptr<CallObserver> TokenWriter::open(std::uint32_t call) {
  auto frames = std::make_shared<RunFrames>(*this, call);
  const std::lock_guard lock(mutex_);
  open_ = call;
  return frames;
}

void TokenWriter::close() {
  const std::lock_guard lock(mutex_);
  flush();
  open_ = kNone;
}

void TokenWriter::send_rows(const FloatRows& rows) try {
  std::string first;
  append_rows_head(first, rows);
  std::string_view left(reinterpret_cast<const char*>(rows.values), rows.rows * rows.columns * sizeof(float));
  const std::size_t fits = (kMaxFrameBytes - first.size()) / sizeof(float) * sizeof(float);
  first += left.substr(0, fits);
  left.remove_prefix(std::min(fits, left.size()));
  socket_.send({.type = FrameType::kRows, .flags = kBegins, .call = open_}, first);
  while (!left.empty()) {
    const auto part = left.substr(0, kMaxFrameBytes);
    left.remove_prefix(part.size());
    socket_.send({.type = FrameType::kRows, .call = open_}, part);
  }
} catch (const PeerGone&) {
  nobody_reads_ = true;
}

void TokenWriter::flush() noexcept {
  if (waiting_.empty()) return;
  try {
    socket_.send({.type = FrameType::kTokens, .call = open_}, waiting_);
  } catch (const PeerGone&) {
    nobody_reads_ = true;
  }
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
      flush();
    }
  }
}

}  // namespace rkllm_mcp
