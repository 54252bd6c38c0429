// A client of MCP without a handshake, over HTTP: each request says by itself who asks, has a connection of its own,
// and is cancelled by closing that.
#pragma once

#include "client.hpp"
#include "departure.hpp"
#include "http_talk.hpp"
#include "sim_server.hpp"
#include "tool_call.hpp"
#include "world.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <string>

namespace rkllm_mcp::simulation {

class StatelessClient : public Client, public std::enable_shared_from_this<StatelessClient> {
 public:
  StatelessClient(World& world, SimServer& server, std::string name);
  void start() override;

  void settle() override;
  bool is_done() const override;
  // What still goes on although the client has left it; empty: nothing.
  std::string goes_on_for_nobody() override;
  std::string owed() const override;  // for complaints

 private:
  struct Call {
    ToolCall tool;
    std::shared_ptr<HttpTalk> talk{};
    Departure departure{};
  };

  void plan();
  void act();
  void call();
  void leave();
  void set_reading(bool reading);
  void answered(Call& call, const HttpTalk::Answer& answer) const;
  [[noreturn]] void complain(const std::string& what) const;

  World& world_;
  SimServer& server_;
  const std::string name_;
  std::deque<Call> calls_;
  bool settled_ = false;
};

}  // namespace rkllm_mcp::simulation
