#include "worker/token_pump.hpp"

#include <asio/post.hpp>

#include <system_error>
#include <utility>

namespace rkllm_mcp {
namespace {

// Room that nobody tells of is looked for so often.
constexpr std::chrono::milliseconds kBetweenLooks{50};

}  // namespace

TokenPump::TokenPump(asio::io_context& loop, FrameSocket& socket, ReplyReader& reader)
    : bytes_(loop, socket.duplicate().release()), room_(loop), socket_(socket), reader_(reader) {}

void TokenPump::start() {
  on_room_ = [pump = weak_from_this(), executor = bytes_.get_executor()] {
    asio::post(executor, [pump] {
      if (const auto self = pump.lock()) self->room_may_have_come();
    });
  };
  const std::lock_guard lock(mutex_);
  await_bytes();
}

Frame TokenPump::await(std::chrono::milliseconds interval, const std::function<void(std::uint64_t signs)>& look) {
  std::unique_lock lock(mutex_);
  try {
    while (!ended_news_.wait_for(lock, interval, [this] { return ended_; })) {
      if (is_full_) ++signs_;
      look(signs_);
    }
  } catch (...) {
    end();
    throw;
  }
  if (failure_) std::rethrow_exception(failure_);
  return *other_;
}

// Whatever goes wrong on the loop is for the thread that makes the call.
template <class Act>
void TokenPump::guarded(const Act& act) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  try {
    act();
  } catch (...) {
    failure_ = std::current_exception();
    end();
  }
}

void TokenPump::await_bytes() {
  bytes_.async_wait(asio::posix::stream_descriptor::wait_read, [pump = shared_from_this()](std::error_code error) {
    pump->guarded([&] {
      if (error) throw std::system_error(error, "a worker's socket");
      pump->socket_.receive_some();
      pump->go_on();
    });
  });
}

void TokenPump::await_room() {
  room_.expires_after(kBetweenLooks);
  room_.async_wait([pump = weak_from_this()](std::error_code error) {
    const auto self = pump.lock();
    if (!error && self) self->room_may_have_come();
  });
}

void TokenPump::room_may_have_come() {
  guarded([this] {
    if (std::exchange(is_full_, false)) go_on();
  });
}

void TokenPump::go_on() {
  while (reader_.offer(on_room_)) {
    const auto frame = socket_.received();
    if (!frame) return await_bytes();
    ++signs_;
    if (frame->head.type != FrameType::kTokens) {
      other_ = *frame;
      return end();
    }
    reader_.take_tokens(*frame);
  }
  is_full_ = true;
  await_room();
}

void TokenPump::end() {
  ended_ = true;
  std::error_code ignored;
  bytes_.close(ignored);
  room_.cancel();
  ended_news_.notify_all();
}

}  // namespace rkllm_mcp
