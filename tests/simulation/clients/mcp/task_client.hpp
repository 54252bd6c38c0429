// A client of MCP without a handshake that lets tools go on as tasks: it asks what has become of them, or is told,
// gives them what they want, cancels some, and forgets about others. Each request has a connection of its own.
#pragma once

#include "simulation/clients/client.hpp"
#include "simulation/clients/departure.hpp"
#include "simulation/clients/http_talk.hpp"
#include "simulation/server/sim_server.hpp"
#include "simulation/world/world.hpp"
#include "tool_call.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace rkllm_mcp::simulation {

class TaskClient : public Client, public std::enable_shared_from_this<TaskClient> {
 public:
  TaskClient(World& world, SimServer& server, std::string name);
  void start() override { plan(); }

  void settle() override;
  bool is_done() const override;
  std::string owed() const override;
  void check() override;

 private:
  struct Task {
    ToolCall tool;
    std::string id{};                      // empty: not known yet
    std::map<std::string, Json> wanted{};  // requests that have not been answered yet, by key
    std::set<std::string> given{};         // what was wanted and given, and the server has said so
    bool is_asking = false;                // a request for its state is under way
    bool is_giving = false;
    bool is_cancelled = false;       // that has been asked for
    bool is_left = false;            // nobody asks for it any more
    int steps_since_cancelled = -1;  // since the server confirmed the cancelling; -1: not yet
    std::string end{};               // what came of it, as text; empty: nothing yet
    // The listener of the task's notifications.
    std::shared_ptr<HttpTalk> listener{};
    bool is_confirmed = false;  // the server has confirmed that it listens
    bool must_hear = false;     // it must be told how the task ends
    bool has_heard = false;

    bool is_known() const { return !id.empty() && !is_left; }
  };

  void plan();
  void act();
  void begin(bool asks);
  void look(Task& task);
  void give(Task& task);
  void cancel(Task& task);
  void listen(Task& task);
  void take_created(Task& task, const Json& result);
  // Takes a state of the task. `must_have_ended`: the end was known before this state was asked for.
  void take_state(Task& task, const Json& state, bool must_have_ended);
  void take_end(Task& task, const Json& state);
  void take_notification(Task& task, const Json& message);
  Task* one_of(bool (*is_wanted)(const Task&));
  std::shared_ptr<HttpTalk> ask(const std::string& method, Json params, std::function<void(const Json& result)> then,
                                std::function<void(const Json& message)> told = {});
  void set_reading(bool reading);
  void settle_tasks();
  static bool is_owed(const Task& task) {
    return !task.is_left && (task.end.empty() || (task.must_hear && !task.has_heard));
  }
  [[noreturn]] void complain(const Task& task, const std::string& what, const Json& text,
                             Place place = Place::here()) const;

  World& world_;
  SimServer& server_;
  const std::string name_;
  std::deque<Task> tasks_;
  std::map<int, std::shared_ptr<HttpTalk>> talks_;  // by the number of the connection
  int connections_ = 0;
  bool settled_ = false;
};

}  // namespace rkllm_mcp::simulation
