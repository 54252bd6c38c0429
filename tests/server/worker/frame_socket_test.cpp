// What is said over a worker's socket arrives whole, in frames of the length that there may be.
#include "worker/frame_socket.hpp"

#include "process/descriptor.hpp"
#include "support/catch.hpp"

#include <future>
#include <limits>
#include <string>
#include <utility>

using namespace rkllm_mcp;

TEST_CASE("content that is too long for one frame arrives in several, behind what begins it") {
  DescriptorPair ends = make_stream_pair();
  FrameSocket sender(std::move(ends.first));
  FrameSocket receiver(std::move(ends.second));
  const std::string beginning = "begins";
  const std::size_t bytes = GENERATE(std::size_t{0}, kMaxFrameBytes - 6, kMaxFrameBytes - 5, 3 * kMaxFrameBytes);
  std::string rest;
  while (rest.size() < bytes) rest += static_cast<char>('a' + rest.size() % 26);

  // Longer than what the socket holds: it waits for the receiver.
  const auto sent = std::async(std::launch::async, [&] {
    sender.send({.type = FrameType::kCall, .flags = kHasUnread, .call = 7}, beginning, rest);
  });
  FramedText whole(std::numeric_limits<std::size_t>::max());
  std::size_t frames = 0;
  for (bool is_whole = false; !is_whole; ++frames) {
    const Frame frame = receiver.receive();
    CHECK(frame.head.type == FrameType::kCall);
    CHECK(frame.head.call == 7);
    CHECK((frame.head.flags & kHasUnread) != 0);
    is_whole = whole.add(frame);
  }
  CHECK(frames == (beginning.size() + rest.size() + kMaxFrameBytes - 1) / kMaxFrameBytes);
  CHECK(whole.take() == beginning + rest);
}
