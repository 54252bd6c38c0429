#include "support/failing_heap.hpp"

#include <cstdlib>

namespace {

// How many allocations of this thread succeed before one fails; negative: none is to fail.
constinit thread_local int left = -1;

}  // namespace

rkllm_mcp::test::FailingAllocation::FailingAllocation(int number) { left = number; }
rkllm_mcp::test::FailingAllocation::~FailingAllocation() { left = -1; }
bool rkllm_mcp::test::FailingAllocation::is_to_come() const { return left >= 0; }

void* operator new(std::size_t bytes) {
  if (left >= 0 && left-- == 0) throw std::bad_alloc();
  if (void* const piece = std::malloc(bytes == 0 ? 1 : bytes)) return piece;
  throw std::bad_alloc();
}

// All that belongs together is replaced together: a sanitizer minds who frees what.
void* operator new[](std::size_t bytes) { return operator new(bytes); }

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void* operator new[](std::size_t bytes, const std::nothrow_t& nothrow) noexcept { return operator new(bytes, nothrow); }

void operator delete(void* piece) noexcept { std::free(piece); }
void operator delete(void* piece, std::size_t) noexcept { std::free(piece); }
void operator delete(void* piece, const std::nothrow_t&) noexcept { std::free(piece); }
void operator delete[](void* piece) noexcept { std::free(piece); }
void operator delete[](void* piece, std::size_t) noexcept { std::free(piece); }
void operator delete[](void* piece, const std::nothrow_t&) noexcept { std::free(piece); }
