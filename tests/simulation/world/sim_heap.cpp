#include "sim_heap.hpp"

#include <array>
#include <cstdlib>
#include <new>

#ifdef RKLLM_MCP_HEAP_IS_WATCHED  // by a sanitizer

std::size_t rkllm_mcp::simulation::allocated_bytes() { return 0; }

#else

namespace {

constexpr std::size_t kGrain = 16;
constexpr std::size_t kSmall = 1024;

// Before each piece: how much it holds, in a place that keeps the piece aligned. Once it has been given back, the next
// that has.
struct Head {
  std::size_t bytes;
  Head* next;
};
static_assert(sizeof(Head) <= kGrain);

// One thread runs a simulation, and so nothing is locked.
struct Heap {
  std::array<Head*, kSmall / kGrain + 1> spare{};  // by bytes / kGrain
  std::size_t allocated = 0;
};
constinit Heap heap;

}  // namespace

std::size_t rkllm_mcp::simulation::allocated_bytes() { return heap.allocated; }

void* operator new(std::size_t wanted) {
  const std::size_t bytes = (wanted + kGrain - 1) / kGrain * kGrain;
  heap.allocated += bytes;
  Head* head = nullptr;
  if (bytes <= kSmall && heap.spare[bytes / kGrain] != nullptr) {
    head = heap.spare[bytes / kGrain];
    heap.spare[bytes / kGrain] = head->next;
  } else {
    head = static_cast<Head*>(std::malloc(sizeof(Head) + bytes));
    if (head == nullptr) throw std::bad_alloc();
    head->bytes = bytes;
  }
  return head + 1;
}

void operator delete(void* piece) noexcept {
  if (piece == nullptr) return;
  Head* const head = static_cast<Head*>(piece) - 1;
  heap.allocated -= head->bytes;
  if (head->bytes > kSmall) return std::free(head);
  head->next = heap.spare[head->bytes / kGrain];
  heap.spare[head->bytes / kGrain] = head;
}

void operator delete(void* piece, std::size_t) noexcept { operator delete(piece); }

#endif
