// A client that calls over HTTP without polling: one request after the other or several at once, on a connection that
// it keeps, is silent on, cuts in the middle of a request, or closes while it is owed answers. Some start runs and
// never ask for them: that may cost nobody else.
#pragma once

#include "client.hpp"
#include "departure.hpp"
#include "http_talk.hpp"
#include "simulation/server/sim_server.hpp"
#include "simulation/world/world.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace rkllm_mcp::simulation {

class HttpClient : public Client, public std::enable_shared_from_this<HttpClient> {
 public:
  HttpClient(World& world, SimServer& server, std::string name);
  void start() override;

  void settle() override;
  bool is_done() const override { return departure_.has_left() || (settled_ && told_end_); }
  std::string owed() const override { return name_ + ": " + std::to_string(talk_->waiting()) + " answers"; }
  void check() override;

 private:
  void plan();
  void act();
  void ask(int count);
  void ask_one();
  void leave();
  void take(const Json& body, const std::string& name, std::size_t tokens);
  void take_start(const Json& body);
  void ended();
  Json parsed(const HttpTalk::Answer& answer) const;
  [[noreturn]] void complain(const std::string& what, Place place = Place::here()) const;

  World& world_;
  SimServer& server_;
  const std::string name_;
  std::shared_ptr<HttpTalk> talk_;
  bool is_greedy_ = false;
  int asked_ = 0;
  std::size_t started_ = 0;  // runs that nobody will ask for
  Departure departure_;
  bool stays_ = false;  // it does not close by itself
  bool settled_ = false;
  bool told_end_ = false;
};

}  // namespace rkllm_mcp::simulation
