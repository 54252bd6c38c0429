// Something that takes bytes for one client and says when it can take more: what a Peer and an http::Exchange share.
//
// Threads: belongs to the event loop; every function is called there, and every callback comes from there.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace rkllm_mcp {

class Writable {
 public:
  Writable() = default;
  Writable(const Writable&) = delete;
  Writable& operator=(const Writable&) = delete;
  virtual ~Writable() = default;

  // False while as many bytes wait for this client as its send queue may hold.
  virtual bool ready() const = 0;
  // Nothing that is written from now on can reach the client.
  virtual bool closed() const = 0;
  // Whether there is memory for so many bytes more to wait for this client.
  virtual bool has_room_for(std::size_t bytes) const = 0;

  // Calls `action` once, as soon as ready() has become true again (never from inside this function). To be asked for
  // only while ready() is false. Dropped at close.
  void when_ready(std::function<void()> action) { ready_actions_.push_back(std::move(action)); }
  // Calls `action` once, when the client is gone, whichever side did it. At once if it is gone already.
  void when_closed(std::function<void()> action);

 protected:
  void became_ready();   // for transports: ready() has turned true
  void became_closed();  // for transports: once, when nothing can reach the client any more

 private:
  std::vector<std::function<void()>> ready_actions_;
  std::vector<std::function<void()>> closed_actions_;
};

}  // namespace rkllm_mcp
