// How a client's messages travel: as lines, or as WebSocket's frames. What belongs to the framing (a handshake, pings,
// fragments, the ways of saying goodbye) is checked here, what the messages say by the client.
#pragma once

#include "simulation/server/sim_server.hpp"
#include "simulation/world/world.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace rkllm_mcp::simulation {

class Wire {
 public:
  using TakeFunction = std::function<void(std::string_view message)>;

  Wire() = default;
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  virtual ~Wire() = default;

  virtual std::shared_ptr<SimConnection> connect(const std::string& name) = 0;
  virtual std::string opening() { return {}; }              // what is sent first
  virtual std::string whole(std::string_view message) = 0;  // as the bytes that carry it
  virtual std::string part(std::string_view message) = 0;   // bytes of an incomplete message: more would have to follow
  virtual std::string beside() { return {}; }               // what may be sent between messages
  // The bytes that end the conversation; the server answers them, and nothing more is sent after them. Empty where the
  // end of input ends it: then the client may still get its answers.
  virtual std::string last_bytes() { return {}; }
  // Calls `take` with each message that is whole. Throws a Violation if the framing is broken.
  virtual void received(std::string_view bytes, const TakeFunction& take) = 0;
  // What the framing itself must send in answer to the bytes that came, such as a pong.
  virtual std::string answer() { return {}; }
};

std::unique_ptr<Wire> make_lines(SimServer& server);
std::unique_ptr<Wire> make_websocket(World& world, SimServer& server);

}  // namespace rkllm_mcp::simulation
