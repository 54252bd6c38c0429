#include "dispatch/reading_queue.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

namespace rkllm_mcp {

void ReadingQueue::add(Piece piece) {
  std::deque<Piece>& waiting = clients_[piece.client].waiting;
  waiting.push_back(std::move(piece));
  go_on();
}

void ReadingQueue::drop_unwanted() {
  for (auto client = clients_.begin(); client != clients_.end();) {
    std::erase_if(client->second.waiting, [](const Piece& piece) { return !piece.is_wanted(); });
    client = client->second.waiting.empty() ? clients_.erase(client) : std::next(client);
  }
}

ReadingQueue::Piece ReadingQueue::take_next() {
  auto turn = clients_.upper_bound(latest_);
  if (turn == clients_.end()) turn = clients_.begin();
  latest_ = turn->first;
  Client& client = turn->second;
  auto next = client.waiting.begin();
  if (!std::exchange(client.oldest_is_next, !client.oldest_is_next)) {
    next = std::min_element(next, client.waiting.end(),
                            [](const Piece& one, const Piece& other) { return one.bytes < other.bytes; });
  }
  Piece piece = std::move(*next);
  client.waiting.erase(next);
  if (client.waiting.empty()) clients_.erase(turn);
  return piece;
}

void ReadingQueue::go_on() {
  if (is_busy_) return;
  drop_unwanted();
  while (!is_busy_ && !clients_.empty()) {
    Piece piece = take_next();
    try {
      thread_.run(std::move(piece.work), [this, then = piece.then] {
        is_busy_ = false;
        go_on();
        then();
      });
      is_busy_ = true;
    } catch (const std::bad_alloc&) {
      piece.then();
    }
  }
}

}  // namespace rkllm_mcp
