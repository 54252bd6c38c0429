// Which handles exist. The C API passes bare pointers; this tells a live one from one that was destroyed or made up,
// without looking at what it points at.
#pragma once

#include "engine/checked_instance.hpp"
#include "engine/contract.hpp"

#include <map>
#include <memory>
#include <mutex>

namespace rkllm_mcp::sim {

// Thread-safe. Process-wide, because the C functions have nothing else to find a handle's owner by.
class LiveHandles {
 public:
  static LiveHandles& instance();

  // Takes over an instance; the result is its handle.
  void* add(std::unique_ptr<CheckedInstance> instance);
  // Null if there is no such handle.
  CheckedInstance* find(void* handle);
  // Gives the instance back; null if there is no such handle.
  std::unique_ptr<CheckedInstance> remove(void* handle);

 private:
  std::mutex mutex_;  // guards instances_
  std::map<void*, std::unique_ptr<CheckedInstance>> instances_;
};

// Calls broken_contract() if `kept` is false: the caller has broken `rule`. `death`: how the vendor's library dies.
inline void require(bool kept, Death death, const char* rule) {
  if (!kept) broken_contract(death, rule);
}

inline void require_pointer(const void* pointer, const char* rule) {
  require(pointer != nullptr, Death::kSegmentationFault, rule);
}

// The instance of a handle that is not NULL. `function` is the one that was called.
CheckedInstance& instance_of(void* handle, const char* function);

}  // namespace rkllm_mcp::sim
