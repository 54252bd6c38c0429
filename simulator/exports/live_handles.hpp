// Which handles exist. The C API passes bare pointers; this tells a live one from one that was destroyed or made up,
// without looking at what it points at.
#pragma once

#include "engine/session.hpp"

#include <map>
#include <memory>
#include <mutex>

namespace rkllm_mcp::sim {

// Thread-safe. Process-wide, because the C functions have nothing else to find a handle's owner by.
class LiveHandles {
 public:
  static LiveHandles& instance();

  // Takes over a session; the result is its handle.
  void* add(std::unique_ptr<Session> session);
  // Null if there is no such handle.
  Session* find(void* handle);
  // Gives the session back; null if there is no such handle.
  std::unique_ptr<Session> remove(void* handle);

 private:
  std::mutex mutex_;  // guards sessions_
  std::map<void*, std::unique_ptr<Session>> sessions_;
};

}  // namespace rkllm_mcp::sim
