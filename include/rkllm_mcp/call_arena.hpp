// Owns everything that the C structs of one call point at: strings, arrays, nested structs. Addresses stay valid until
// the arena dies, which is after the call (for a run: after the run) has ended.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp {

class CallArena {
 public:
  CallArena() = default;
  CallArena(const CallArena&) = delete;
  CallArena& operator=(const CallArena&) = delete;

  // A value of type T that lives as long as the arena.
  template <class T>
  T& keep(T value) {
    auto owned = std::make_shared<T>(std::move(value));
    T& kept = *owned;
    owned_.push_back(std::move(owned));
    return kept;
  }

  // A NUL-terminated, writable copy of `text`.
  char* text(std::string_view text) { return keep(std::string(text)).data(); }

  // `count` value-initialised elements, contiguous.
  template <class T>
  T* array(std::size_t count) {
    T* const first = new T[count]();
    std::shared_ptr<void> owned(first, std::default_delete<T[]>());
    owned_.push_back(std::move(owned));
    return first;
  }

 private:
  std::vector<std::shared_ptr<void>> owned_;
};

}  // namespace rkllm_mcp
