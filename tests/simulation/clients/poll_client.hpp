// A client that polls over HTTP: starts a run, asks for what has come, at its own pace or hardly ever, and knows what
// it must get: every token once, in order, and the end; or, if it was too slow, that there is no such stream any more.
#pragma once

#include "client.hpp"
#include "http_talk.hpp"
#include "simulation/server/sim_server.hpp"
#include "simulation/world/world.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp::simulation {

class PollClient : public Client, public std::enable_shared_from_this<PollClient> {
 public:
  PollClient(World& world, SimServer& server, std::string name);
  void start() override;

  void settle() override;
  bool is_done() const override { return left_ || (settled_ && told_end_); }
  std::string owed() const override { return name_; }

 private:
  void plan();
  void act();
  void start_run();
  void poll();
  void ask(const std::string& body);

  void take(const Json& answer);
  enum class TextIs { kWhole, kBeginning };
  void end(TextIs text);
  [[noreturn]] void complain(const std::string& what, Place place = Place::here()) const;

  World& world_;
  SimServer& server_;
  const std::string name_;
  std::shared_ptr<HttpTalk> talk_;

  int run_ = 0;
  std::size_t tokens_ = 0;
  SimServer::Excuse excuse_;  // of the run
  std::string stream_id_;     // empty: no run is under way
  std::string text_;
  std::uint64_t seq_ = 0;
  Clock::time_point asked_;                       // when the request under way was sent
  std::optional<Clock::time_point> last_answer_;  // when the last request that was answered was sent

  bool left_ = false;
  bool settled_ = false;
  bool told_end_ = false;
};

}  // namespace rkllm_mcp::simulation
