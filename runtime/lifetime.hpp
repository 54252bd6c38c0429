// Lets callbacks see whether the object that they are for is still there, where they may come after its end. The object
// has a Lifetime as a member, declared so that it ends when the callbacks are to do nothing any more; they hold what
// watch() gives, and ask expired() first.
//
// Threads: any may ask; only on the thread that ends the object (the event loop) is the answer still true afterwards.
#pragma once

#include <memory>

namespace rkllm_mcp {

class Lifetime {
 public:
  Lifetime() : mark_(std::make_shared<char>()) {}  // written out, else clang takes no const member of this type
  Lifetime(const Lifetime&) = delete;
  Lifetime& operator=(const Lifetime&) = delete;

  std::weak_ptr<const void> watch() const { return mark_; }

 private:
  const std::shared_ptr<const void> mark_;
};

}  // namespace rkllm_mcp
