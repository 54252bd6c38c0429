// Long messages, which are parsed beside the event loop, one at a time. Whose turn it is: the clients take turns, and
// of one client's messages the shortest and the oldest take turns, so that nobody's short message waits behind many
// long ones, and no long one waits for ever. What nobody waits for any more is not parsed at all.
//
// Threads: event loop only; `work` runs on the queue's own thread.
#pragma once

#include "side_thread.hpp"

#include <asio/io_context.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>

namespace rkllm_mcp {

class ReadingQueue {
 public:
  struct Piece {
    std::string client;   // whose message it is: an address, say
    std::size_t bytes{};  // of the message
    // Whether anybody still waits for it; asked on the loop before the work begins. If not, the piece is dropped.
    std::function<bool()> is_wanted;
    std::function<void()> work;  // on the thread; throws nothing
    std::function<void()> then;  // on the loop, after the work, or without it where there was no memory for it
  };

  explicit ReadingQueue(asio::io_context& loop) : thread_(loop) {}

  // False if there is no memory for the thread; add() would then work on the loop.
  bool start() { return thread_.start(); }
  void add(Piece piece);

 private:
  struct Client {
    std::deque<Piece> waiting;  // the oldest first; never empty
    bool oldest_is_next = false;
  };

  void drop_unwanted();
  Piece take_next();
  void go_on();

  std::map<std::string, Client> clients_;
  std::string latest_;    // the client who had the latest turn
  bool is_busy_ = false;  // the thread has a piece
  SideThread thread_;     // last: what it calls uses the above
};

}  // namespace rkllm_mcp
