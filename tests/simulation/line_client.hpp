// A client that speaks the direct dialect in lines: makes calls, reads or does not read, and leaves in every way there
// is. It knows what must come back for each of its requests, and says so when something else does.
#pragma once

#include "sim_server.hpp"
#include "world.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace rkllm_mcp::simulation {

class LineClient : public std::enable_shared_from_this<LineClient> {
 public:
  LineClient(World& world, SimServer& server, std::string name);
  void start();

  const std::string& name() const { return name_; }
  // No more faults from here on: it reads what it is owed, and closes then.
  void settle();
  bool is_done() const { return left_ || (settled_ && owed_ == 0 && told_end_); }
  // Whether the server has had every occasion to notice that the client has gone: calls of such a client are nobody's.
  bool must_be_forgotten();
  std::string owed() const;  // requests without an end, for complaints
  // It speaks another protocol on a port for lines: nothing of what it sends may be executed.
  bool is_stranger() const { return is_stranger_; }

 private:
  enum class Kind { kPlain, kRun, kPush };
  struct Request {
    Kind kind;
    std::size_t tokens;
    std::string written_id;  // which the answers have byte for byte
    std::string text;        // so far
    std::uint64_t seq = 0;   // of the next chunk
    bool ended = false;
  };

  void plan();
  void act();
  void read(bool reading);
  void ended();  // the connection, by the server
  void leave();
  void send_requests(std::size_t count);
  void send_batch(std::size_t count);
  std::string request_text();
  std::string written_id(int id) const;  // in one of the ways in which it can be written
  void received(std::string_view bytes);
  void take_line(std::string_view line);
  void take(const Json& message, std::string_view line);
  void take_as_stranger(const Json& message);
  void take_chunk(int id, Request& request, const Json& result);
  void end(int id, Request& request);
  std::string name_of(int id) const {
    return name_ + "." + std::to_string(id);
  }  // which its prompt and tokens begin with
  std::string whole_text(int id, const Request& request) const;
  [[noreturn]] void complain(const std::string& what) const;

  World& world_;
  SimServer& server_;
  const std::string name_;
  std::shared_ptr<SimConnection> connection_;
  std::map<int, Request> requests_;
  std::string line_;  // that has come so far
  int last_id_ = 0;
  std::size_t owed_ = 0;
  bool is_stranger_ = false;
  bool speaks_mcp_ = false;  // of the revision that has batches
  bool finished_ = false;    // it sends nothing more
  bool reads_ = true;
  int sleeps_for_ = 0;
  Clock::time_point stopped_reading_;
  Clock::duration longest_pause_{0};
  bool left_ = false;
  int steps_since_left_ = 0;
  Clock::time_point left_at_;
  bool settled_ = false;
  bool told_end_ = false;
};

}  // namespace rkllm_mcp::simulation
