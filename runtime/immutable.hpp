// A value that never changes after it was made, and that several may keep: copies are cheap, and all are of one value,
// which ends with the last of them. Never empty; whoever has none has a std::optional, or a pointer that is null.
//
// Threads: any may copy it and read the value, as far as T's constant members allow that.
#pragma once

#include <memory>
#include <utility>

namespace rkllm_mcp {

template <class T>
class Immutable {
 public:
  explicit Immutable(T value) : value_(std::make_shared<const T>(std::move(value))) {}
  // Moving copies: what has been moved from is not empty either.
  Immutable(const Immutable&) = default;
  Immutable& operator=(const Immutable&) = default;
  ~Immutable() = default;

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  const T* get() const { return value_.get(); }

 private:
  std::shared_ptr<const T> value_;
};

}  // namespace rkllm_mcp
