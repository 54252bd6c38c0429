// Memory that is kept for the moment when the system gives none any more. Ending a request takes memory, too:
// nlohmann's destructor of an array allocates and may not throw, so that without memory it ends the process. At the
// first allocation that fails the reserve is given back to the system. From then on all of limits.memory_bytes counts
// as used, so that clients are refused, until the reserve can be taken again.
//
// The address space is taken, the memory itself is not: nobody writes to it. There is one reserve in a process, since
// std::set_new_handler() knows no other.
//
// Threads: belongs to the event loop; memory may be short on any thread.
#pragma once

#include "clock.hpp"
#include "memory_budget.hpp"

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include <cstddef>
#include <memory>
#include <new>

namespace rkllm_mcp {

class MemoryReserve {
 public:
  // More than the destructors of all messages that are read at one time need: long arrays in them stay text.
  static constexpr std::size_t kBytes = std::size_t{8} << 20U;

  // Throws std::system_error if there is no descriptor for it.
  MemoryReserve(asio::io_context& loop, const MemoryBudget& memory);
  MemoryReserve(const MemoryReserve&) = delete;
  MemoryReserve& operator=(const MemoryReserve&) = delete;
  ~MemoryReserve();

 private:
  static void give_back();  // the new-handler
  void watch();
  void put_by();

  asio::io_context& loop_;
  MemoryShare refused_;  // all that clients may take, while the reserve is missing
  const std::size_t all_;
  asio::posix::stream_descriptor given_back_;  // an eventfd
  Timer later_;
  std::new_handler before_;
};

}  // namespace rkllm_mcp
