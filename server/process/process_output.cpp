#include "process/process_output.hpp"

#include "thread.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kBytesAtOnce = 4096;
constexpr int kRoundsAtOnce = 64;  // others who want the lock get their turn
// Of read(), at the end: twice what a pipe holds at most, which is 1 MiB unless the system's administrator allows more.
constexpr int kReadsAtEnd = 8;
static_assert(kReadsAtEnd * kRoundsAtOnce * kBytesAtOnce == 2U << 20U);

}  // namespace

ProcessOutput::ProcessOutput(Descriptor pipe, LineFunction line) : pipe_(std::move(pipe)), log_(std::move(line)) {
  ::fcntl(pipe_.number(), F_SETFL, O_NONBLOCK);
}

ProcessOutput::Read ProcessOutput::read() {
  const std::lock_guard lock(reading_);
  std::array<char, kBytesAtOnce> bytes;
  for (int rounds = 0; rounds < kRoundsAtOnce; ++rounds) {
    const ssize_t size = ::read(pipe_.number(), bytes.data(), bytes.size());
    if (size > 0) {
      log_.take({bytes.data(), static_cast<std::size_t>(size)});
    } else if (size == 0) {
      log_.end();
      has_ended_ = true;
      return Read::kEnd;
    } else if (errno != EINTR) {
      if (errno == EAGAIN) return Read::kAll;
      has_ended_ = true;
      return Read::kEnd;
    }
  }
  return Read::kMore;
}

void ProcessOutput::read_rest() {
  for (int reads = 0; reads < kReadsAtEnd && read() == Read::kMore; ++reads) {
  }
  const std::lock_guard lock(reading_);
  log_.end();
}

bool ProcessOutput::wait(std::chrono::milliseconds patience, int other) const {
  std::array<pollfd, 2> wanted{pollfd{has_ended_ ? -1 : pipe_.number(), POLLIN, 0}, pollfd{other, POLLIN, 0}};
  return poll_descriptors(wanted.data(), wanted.size(), static_cast<int>(patience.count())) > 0 &&
         wanted[1].revents != 0;
}

}  // namespace rkllm_mcp
