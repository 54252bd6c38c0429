#include "chat/http/open_visits.hpp"

#include "put_back.hpp"

#include <asio/post.hpp>

#include <utility>

namespace rkllm_mcp::chat {

void OpenVisits::keep(std::uint64_t number, const Visit& visit, Open open) {
  open_.emplace(number, std::move(open));
  visit.exchange->when_closed([this, number, alive = alive_.watch()] {
    const bool is_noticed = !is_put_back("nobody notices that who asked for a turn has gone") &&
                            !is_put_back("embeddings are made for long, and for nobody");
    if (!alive.expired() && is_noticed) let_go(number);
  });
}

// What is kept must not be destroyed while one of its callbacks runs.
void OpenVisits::let_go(std::uint64_t number) {
  asio::post(loop_, [this, number, alive = alive_.watch()] {
    if (!alive.expired()) open_.erase(number);
  });
}

void OpenVisits::give_up_all(const TurnError& error) {
  const auto open = std::exchange(open_, {});
  for (const auto& [number, each] : open) each.give_up(error);
}

}  // namespace rkllm_mcp::chat
