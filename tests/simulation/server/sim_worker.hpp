// A worker process as the server sees it: takes models' places from its control socket, and frames of calls; answers
// with frames, in pieces of any size; is slow, prints, hangs, is stopped, says nonsense, dies. Its end and that of its
// sockets are noticed in either order.
#pragma once

#include "simulation/world/world.hpp"

#include "process/descriptor.hpp"
#include "worker/child_process.hpp"
#include "worker/frame.hpp"

#include <rkllm_mcp/json.hpp>

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::simulation {

class SimWorker : public std::enable_shared_from_this<SimWorker> {
 public:
  SimWorker(World& world, pid_t id, const Descriptor& control, const Descriptor& log);

  // What ChildProcess asks of it.
  Descriptor end_news() const;
  bool is_stopped() const { return is_stopped_; }
  bool has_ended() const { return end_is_told_; }
  void kill();
  ChildProcess::End end() const { return *end_; }

  pid_t id() const { return id_; }
  bool is_dying() const { return end_.has_value(); }
  // Whether it did something for which the server may take it as lost.
  bool has_failed() const { return has_failed_; }
  bool has_place_of(std::string_view handle) const { return handles_.count(std::string(handle)) > 0; }
  // It answers from now on, and does not fail any more, unless it hangs already. Or it may fail again.
  void behave(bool well = true) { behaves_ = well; }
  // Each of its faults then happens in one of 512 steps, and not in one of 64.
  void fail_rarely() { fails_once_in_ = 512; }
  void look();  // whether there is something for it to do

 private:
  // One of a model's two sockets.
  struct Line {
    Descriptor socket;
    FrameReader reader{};
    std::string out{};  // not yet in the socket
    bool read_offered = false;
    bool write_offered = false;
  };
  struct Call {
    std::uint32_t number = 0;
    std::string method;
    Json params;
    std::string name{};      // its name, from the prompt
    std::size_t tokens = 0;  // of a run
    std::size_t given = 0;
    bool has_given_rows = false;
  };
  // The place of a model, or the place for calls without a model.
  struct Place {
    std::string handle;
    Line turn, beside;
    bool loaded = false;
    std::deque<Call> calls{};  // the first is being made
    std::uint32_t stopped = 0;
    bool offered = false;
  };

  bool works() const { return !end_ && !is_stopped_ && !hangs_; }
  void take_place();
  void offer(Place& place, Line& line);
  void read(Place& place, Line& line);
  void take(Place& place, Line& line, const Frame& frame);
  void go_on(Place& place);
  bool suffers(Place& place);
  void make(Place& place, Call& call);
  void give_tokens(Place& place, Call& call);
  void give_rows(Place& place, const Call& call);
  void end_call(Line& line, std::uint32_t number, Json end);
  void print(std::string_view line) const;
  void die(ChildProcess::End end);
  void close_all();
  std::string said() const { return "worker " + std::to_string(id_); }

  World& world_;
  const pid_t id_;
  Descriptor control_;
  Descriptor log_;
  DescriptorPair end_news_;  // the second is closed when it has ended
  std::list<Place> places_;
  std::set<std::string> handles_;  // that it has ever had a place of
  std::optional<ChildProcess::End> end_;
  bool end_is_told_ = false;
  bool leaves_open_ = false;  // a process that it has started holds what it had
  Clock::time_point died_;
  bool is_stopped_ = false;
  bool hangs_ = false;
  bool has_failed_ = false;
  Clock::time_point last_idle_ = Clock::now();
  bool behaves_ = false;
  std::uint32_t fails_once_in_ = 64;
  bool control_offered_ = false;
};

// All workers of a schedule, which ChildProcess finds here.
class SimWorkers {
 public:
  explicit SimWorkers(World& world) : world_(world) { current = this; }
  SimWorkers(const SimWorkers&) = delete;
  SimWorkers& operator=(const SimWorkers&) = delete;
  ~SimWorkers() { current = nullptr; }

  const std::shared_ptr<SimWorker>& start(const Descriptor& control, const Descriptor& log);
  SimWorker& find(pid_t id) const { return *all_.at(static_cast<std::size_t>(id) - 1); }
  const std::vector<std::shared_ptr<SimWorker>>& all() const { return all_; }
  void behave(bool well = true);  // all of them, and those to come
  void fail_rarely();

  static inline SimWorkers* current = nullptr;

 private:
  World& world_;
  std::vector<std::shared_ptr<SimWorker>> all_;
  bool behave_ = false;
  bool fail_rarely_ = false;
};

}  // namespace rkllm_mcp::simulation
