#include "worker/token_pump.hpp"

#include "faults.hpp"

#include <asio/buffer.hpp>
#include <asio/error.hpp>
#include <asio/post.hpp>

#include <new>
#include <system_error>
#include <utility>

namespace rkllm_mcp {
namespace {

// Room that nobody tells of is looked for so often.
constexpr std::chrono::milliseconds kBetweenLooks{50};

}  // namespace

TokenPump::TokenPump(asio::io_context& loop, FrameSocket& socket, ReplyReader& reader)
    : bytes_(loop), room_(loop), socket_(socket), reader_(reader) {
  Descriptor duplicate = socket.duplicate();
  bytes_.assign(asio::local::stream_protocol(), duplicate.number());
  duplicate.release();
}

void TokenPump::start() {
  on_room_ = [pump = weak_from_this(), executor = bytes_.get_executor()] {
    try {
      asio::post(executor, [pump] {
        if (const auto self = pump.lock()) self->room_may_have_come();
      });
    } catch (const std::bad_alloc&) {  // await_room() looks, too
    }
  };
  const std::lock_guard lock(mutex_);
  go_on();
}

Frame TokenPump::await(std::chrono::milliseconds interval, const std::function<void(std::uint64_t signs)>& look) {
  std::unique_lock lock(mutex_);
  try {
    while (!ended_news_.wait_for(lock, interval, [this] { return ended_; })) {
      if (is_full_ && !has_fault("a worker seems to hang while its reader does not read")) ++signs_;
      look(signs_);
    }
  } catch (...) {
    end();
    throw;
  }
  if (failure_) std::rethrow_exception(failure_);
  return *other_;
}

void TokenPump::await_room() {
  room_.expires_after(kBetweenLooks);
  room_.async_wait([pump = weak_from_this()](std::error_code error) {
    const auto self = pump.lock();
    if (!error && self) self->room_may_have_come();
  });
}

void TokenPump::room_may_have_come() {
  const std::lock_guard lock(mutex_);
  if (ended_ || !std::exchange(is_full_, false)) return;
  try {
    go_on();
  } catch (...) {
    fail();
  }
}

void TokenPump::go_on() {
  while (true) {
    while (const auto token = refused_ ? std::exchange(refused_, std::nullopt) : reader_.next_token()) {
      if (reader_.observer().offer_token(token->batch, token->text, token->id, on_room_)) continue;
      if (!has_fault("a token that found no room is forgotten")) refused_ = token;
      is_full_ = true;
      return await_room();
    }
    reader_.stop_if_wanted();
    const auto frame = socket_.received();
    if (!frame) break;
    ++signs_;
    if (frame->head.type != FrameType::kTokens) {
      other_ = *frame;
      return end();
    }
    reader_.take_tokens(*frame);
  }
  const auto room = socket_.room();
  bytes_.async_read_some(asio::buffer(room.data(), room.size()),
                         [pump = shared_from_this()](std::error_code error, std::size_t bytes) {
                           const std::lock_guard lock(pump->mutex_);
                           if (pump->ended_) return;
                           try {
                             if (error == asio::error::eof || error == asio::error::connection_reset) throw PeerGone();
                             if (error) throw std::system_error(error, "a worker's socket");
                             pump->socket_.filled(bytes);
                             pump->go_on();
                           } catch (...) {
                             pump->fail();
                           }
                         });
}

// Whatever goes wrong on the loop is for the thread that makes the call.
void TokenPump::fail() {
  failure_ = std::current_exception();
  end();
}

void TokenPump::end() {
  ended_ = true;
  std::error_code ignored;
  bytes_.close(ignored);
  room_.cancel();
  ended_news_.notify_all();
}

}  // namespace rkllm_mcp
