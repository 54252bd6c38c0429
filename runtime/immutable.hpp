// A value that never changes once it is made, and lives as long as its last copy: copies are one and the same. It is never
// empty; where there may be none, std::optional has one.
//
// Threads: any.
#pragma once

#include <memory>
#include <utility>

namespace rkllm_mcp {

template <class T>
class Immutable {
 public:
  explicit Immutable(T value) : value_(std::make_shared<const T>(std::move(value))) {}
  // Copies only: one that was moved from would be empty.
  Immutable(const Immutable&) = default;
  Immutable& operator=(const Immutable&) = default;
  ~Immutable() = default;

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }

 private:
  std::shared_ptr<const T> value_;
};

}  // namespace rkllm_mcp
