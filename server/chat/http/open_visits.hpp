// What goes on for requests whose answers take a while: kept until it is over, or until its client has gone.
//
// Event loop only.
#pragma once

#include "chat/http/visit.hpp"
#include "lifetime.hpp"

#include <asio/io_context.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

namespace rkllm_mcp::chat {

class OpenVisits {
 public:
  struct Open {
    std::shared_ptr<void> answering;  // its end is that of what goes on
    std::function<void(const TurnError&)> give_up;
  };

  explicit OpenVisits(asio::io_context& loop) : loop_(loop) {}

  std::uint64_t new_number() { return ++last_; }
  // Until it is let go, or the visit's client has gone.
  void keep(std::uint64_t number, const Visit& visit, Open open);
  // Soon: callbacks of what is kept may call this. Unknown numbers are ignored.
  void let_go(std::uint64_t number);
  bool has(std::uint64_t number) const { return open_.count(number) > 0; }
  std::size_t size() const { return open_.size(); }
  void give_up_all(const TurnError& error);

 private:
  asio::io_context& loop_;
  std::unordered_map<std::uint64_t, Open> open_;
  std::uint64_t last_ = 0;
  const Lifetime alive_;  // gone: what was posted does nothing
};

}  // namespace rkllm_mcp::chat
