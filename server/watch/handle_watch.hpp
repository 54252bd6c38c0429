// Tells clients that have subscribed to the resources of handles when the content of these has changed. Nothing is
// looked at while nobody has subscribed. At the first change after that, a client is told of everything.
//
// Threads: note_change() from any (a lock guards what it notes); all else on the event loop.
#pragma once

#include "backend/handle_resources.hpp"
#include "clock.hpp"
#include "mcp/protocol/mcp_server.hpp"

#include <asio/io_context.hpp>

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace rkllm_mcp {

class HandleWatch {
 public:
  // `handles` gives those that exist. Loop and server outlive this.
  HandleWatch(asio::io_context& loop, mcp::Server& server, HandlesFunction handles)
      : loop_(loop), server_(server), handles_(std::move(handles)), timer_(loop) {}

  // Something may have changed, perhaps about `handle`. Subscribers are told a little later, once for all changes until
  // then; where there is no memory for that, with the next change.
  void note_change(std::string_view handle = {}) noexcept;
  void stop();

 private:
  void look_later();
  void look();
  // The content of each resource by its address, without the members that change all the time.
  std::map<std::string, std::string> states() const;

  asio::io_context& loop_;
  mcp::Server& server_;
  const HandlesFunction handles_;
  Timer timer_;
  std::mutex mutex_;  // guards the next two
  bool poked_ = false;
  std::set<std::string> touched_;  // handles that may have changed since the last look; some may be gone
  bool stopped_ = false;
  std::map<std::string, std::string> told_;  // as of the last look; empty: nobody watched
};

}  // namespace rkllm_mcp
