// A client of MCP over HTTP, of one of the revisions with a handshake: opens a session, calls tools and hears of their
// progress, gives them what they ask for, or refuses it, or says nothing, loses connections and comes back for what it
// has missed, cancels, subscribes, ends its session. Each request travels on a connection of its own.
#pragma once

#include "mcp_news.hpp"
#include "simulation/clients/client.hpp"
#include "simulation/clients/departure.hpp"
#include "simulation/clients/http_talk.hpp"
#include "simulation/server/sim_server.hpp"
#include "simulation/world/world.hpp"
#include "tool_call.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp::simulation {

class McpClient : public Client, public std::enable_shared_from_this<McpClient> {
 public:
  McpClient(World& world, SimServer& server, std::string name);
  void start() override;

  void settle() override;
  bool is_done() const override { return is_over_ && talks_.empty(); }
  void check() override;
  std::string owed() const override;  // for complaints

 private:
  // An answer to what a tool has asked. If its connection is lost it is given again: the server may not have got it.
  struct Given {
    std::shared_ptr<HttpTalk> talk;
    ToolCall::Question question;
  };
  struct Call {
    ToolCall tool;
    std::shared_ptr<HttpTalk> talk{};  // the connection that brings its events now; null: none does
    std::string last_event{};          // id of the last event that came; empty: no event with an id came
    std::deque<Given> given{};         // that the server has not confirmed yet
    bool is_lost = false;              // its end may never come: it cannot be asked for, or waits for an answer
    bool is_cancelled = false;
    int steps_since_cancelled = -1;  // since the server confirmed the cancelling of a call that it knew; -1: not yet
  };

  void plan();
  void act();
  void open();
  void call(ToolCall tool);
  void call_something();
  void respond();
  void respond_to(Call& call, bool refuses);
  void ping();
  void cancel();
  void cut();
  void come_back();
  void come_back_for(Call& call);
  void end_session();
  Call* one_of(bool (*is_wanted)(const Call&));
  HttpTalk::Hearer hearer_of(int id);
  void answered(int id, const HttpTalk::Answer& answer);
  std::shared_ptr<HttpTalk> ask(std::string_view method, std::string_view body, HttpTalk::Fields fields,
                                HttpTalk::Hearer hearer);
  void close(std::shared_ptr<HttpTalk> talk);
  void go_on_settling();
  bool is_owed(const Call& call) const { return !call.tool.has_ended() && !call.is_lost && !call.is_cancelled; }
  [[noreturn]] void complain(const std::string& what, Place place = Place::here()) const;

  World& world_;
  SimServer& server_;
  const std::string name_;
  std::shared_ptr<McpNews> news_;
  std::string revision_;
  std::string session_;  // its id; empty: not open
  std::map<int, Call> calls_;
  std::map<int, std::shared_ptr<HttpTalk>> talks_;  // by the number of the connection
  int connections_ = 0;
  bool is_opening_ = false;
  bool ends_session_ = false;  // has asked for that
  int steps_since_end_ = -1;   // since the server confirmed the session's end; -1: not yet
  bool settled_ = false;
  bool is_over_ = false;
};

}  // namespace rkllm_mcp::simulation
