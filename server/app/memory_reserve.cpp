#include "app/memory_reserve.hpp"

#include "run_loop.hpp"

#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>

namespace rkllm_mcp {
namespace {

constexpr std::chrono::milliseconds kBetweenTries{100};

// Global, since a new-handler is a function without parameters.
std::atomic<void*> reserve{nullptr};
std::atomic<int> given_back_event{-1};  // an eventfd, written to when the reserve is given back

bool take() {
  void* const block = ::mmap(nullptr, MemoryReserve::kBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) return false;
  void* const before = reserve.exchange(block);
  if (before != nullptr) ::munmap(before, MemoryReserve::kBytes);
  return true;
}

bool release() {
  void* const block = reserve.exchange(nullptr);
  if (block != nullptr) ::munmap(block, MemoryReserve::kBytes);
  return block != nullptr;
}

int new_event() {
  const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  return descriptor;
}

}  // namespace

MemoryReserve::MemoryReserve(asio::io_context& loop, const MemoryBudget& memory)
    : loop_(loop), refused_(memory), all_(memory.limit()), given_back_(loop, new_event()), later_(loop) {
  given_back_event = given_back_.native_handle();
  watch();
  take();
  before_ = std::set_new_handler(give_back);
}

MemoryReserve::~MemoryReserve() {
  std::set_new_handler(before_);
  given_back_event = -1;
  release();
}

// Takes no memory, of course, and no lock.
void MemoryReserve::give_back() {
  if (!release()) throw std::bad_alloc();
  const std::uint64_t once = 1;
  [[maybe_unused]] const auto written = ::write(given_back_event, &once, sizeof once);
}

void MemoryReserve::watch() {
  given_back_.async_wait(asio::posix::stream_descriptor::wait_read, [this](const asio::error_code& error) {
    if (error) return;
    refused_.set(all_);
    put_by();
  });
}

void MemoryReserve::put_by() {
  try {
    if (reserve.load() != nullptr || take()) {
      std::uint64_t times = 0;
      [[maybe_unused]] const auto read = ::read(given_back_.native_handle(), &times, sizeof times);
      refused_.set(0);
      return watch();
    }
    later_.expires_after(kBetweenTries);
    later_.async_wait([this](const asio::error_code& error) {
      if (!error) put_by();
    });
  } catch (const std::bad_alloc&) {
    post_patiently(loop_, [this] { put_by(); });
  }
}

}  // namespace rkllm_mcp
