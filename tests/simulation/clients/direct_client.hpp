// A client that speaks the direct dialect on a connection of its own, in lines or over WebSocket: makes calls, reads or
// does not read, and leaves in every way there is. It knows what must come back for each of its requests, and says so
// when something else does.
#pragma once

#include "client.hpp"
#include "departure.hpp"
#include "simulation/server/sim_server.hpp"
#include "simulation/world/world.hpp"
#include "wire.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace rkllm_mcp::simulation {

class DirectClient : public Client, public std::enable_shared_from_this<DirectClient> {
 public:
  DirectClient(World& world, SimServer& server, std::unique_ptr<Wire> wire, std::string name);
  void start() override;

  // No more faults from here on: it reads what it is owed, and closes then.
  void settle() override;
  bool is_done() const override { return departure_.has_left() || (settled_ && owed_ == 0 && told_end_); }
  void check() override;
  std::string owed() const override;  // requests without an end, for complaints

 private:
  enum class Kind { kPlain, kRun, kPush };
  struct Request {
    Kind kind;
    std::size_t tokens;
    std::string written_id;  // which the answers have byte for byte
    SimServer::Excuse excuse;
    Clock::time_point asked;
    std::string text;       // so far
    std::uint64_t seq = 0;  // of the next chunk
    bool ended = false;
  };

  void plan();
  void act();

  void ended();  // called when the server has closed the connection

  void finish();       // sends nothing more
  void say_goodbye();  // if the framing has a word for it
  void break_off();    // in mid-message

  void send_requests(std::size_t count);
  void send_batch(std::size_t count);
  void send_too_much();
  std::string request_text();
  std::string written_id(int id) const;  // in one of the ways in which it can be written
  void received(std::string_view bytes);
  void take_text(std::string_view text);
  void take(const Json& message, std::string_view text);
  void take_as_stranger(const Json& message);
  void take_chunk(int id, Request& request, const Json& result);
  void end(Request& request);
  void end_whole(int id, Request& request);
  std::string name_of(int id) const {
    return name_ + "." + std::to_string(id);
  }  // which its prompt and tokens begin with
  std::string whole_text(int id, const Request& request) const;
  [[noreturn]] void complain(const std::string& what, Place place = Place::here()) const;

  World& world_;
  SimServer& server_;
  const std::unique_ptr<Wire> wire_;
  const std::string name_;
  std::shared_ptr<SimConnection> connection_;
  std::map<int, Request> requests_;
  int last_id_ = 0;
  std::size_t owed_ = 0;
  std::size_t refusals_ = 0;  // how many of the owed answers must refuse something that exceeds a limit
  bool is_stranger_ = false;  // it speaks another protocol on a port for lines: nothing of that may be executed
  bool speaks_mcp_ = false;   // it speaks MCP, in the revision that has batches
  bool finished_ = false;     // it sends nothing more
  int sleeps_for_ = 0;
  Departure departure_;
  bool settled_ = false;
  bool told_end_ = false;
};

}  // namespace rkllm_mcp::simulation
