// A client of MCP without a handshake, over HTTP: each request says by itself who asks, has a connection of its own,
// and is cancelled by closing that. A tool that wants something of it is called again with that; and it listens for
// what changes.
#pragma once

#include "news.hpp"
#include "simulation/clients/client.hpp"
#include "simulation/clients/departure.hpp"
#include "simulation/clients/http_talk.hpp"
#include "simulation/server/sim_server.hpp"
#include "simulation/world/world.hpp"
#include "tool_call.hpp"

#include <rkllm_mcp/json.hpp>

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
  void check() override;
  std::string owed() const override;  // for complaints

 private:
  struct Call {
    ToolCall tool;
    Json params{};
    std::shared_ptr<HttpTalk> talk{};
    Departure departure{};
    Json state{};          // what the tool wants back with the next request of this call
    bool waits = false;    // the server waits until the client calls again
    bool is_over = false;  // nothing more comes of it
  };
  struct Listening {
    std::string document;  // that nobody else watches
    std::shared_ptr<HttpTalk> talk{};
    Departure departure{};
    News news{};
    bool is_confirmed = false;
  };

  void plan();
  void act();
  void call_something();
  void call(ToolCall tool);
  void make(Call& call, Json params);
  void call_again(Call& call);
  void leave();
  void listen();
  void stop_listening();
  void published(const std::string& what);
  void take_news(Listening& listening, const HttpTalk::Event& event) const;
  void set_reading(bool reading);
  void take(Call& call, const std::string& text);
  void answered(Call& call, const HttpTalk::Answer& answer);
  std::shared_ptr<HttpTalk> connect(Departure& departure, const std::string& what);
  void settle_listening();
  static bool is_open(const Call& call) { return !call.departure.has_left() && !call.is_over; }
  static bool is_open(const Listening& listening) { return !listening.departure.has_left(); }
  [[noreturn]] void complain(const std::string& what, Place place = Place::here()) const;

  World& world_;
  SimServer& server_;
  const std::string name_;
  std::deque<Call> calls_;
  std::deque<Listening> listening_;
  int connections_ = 0;
  bool settled_ = false;
};

}  // namespace rkllm_mcp::simulation
