#include "mcp/tools/tasks.hpp"

#include "clock.hpp"
#include "deadline.hpp"
#include "faults.hpp"
#include "jsonrpc/envelope.hpp"
#include "mcp/protocol/era.hpp"
#include "mcp/protocol/request_responder.hpp"
#include "random_bytes.hpp"
#include "transport/peer.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <string_view>

namespace rkllm_mcp::mcp {
namespace {

constexpr std::chrono::milliseconds kKeptFor =
    std::chrono::hours(1);  // from its end; and how long it waits for answers
constexpr std::chrono::milliseconds kBetweenPolls{500};
constexpr std::size_t kKeptBytes = std::size_t{64} << 20U;  // of what came of all tasks

std::string now() { return iso_time(time_of_day()); }

}  // namespace

class Task : public std::enable_shared_from_this<Task> {
 public:
  enum class Status { kWorking, kInputRequired, kCompleted, kFailed, kCancelled };
  using ChangedFunction = std::function<void(const Task&)>;

  Task(asio::io_context& loop, const Principal* owner, ChangedFunction changed)
      : id_(new_id()),
        owner_(owner),
        changed_(std::move(changed)),
        patience_(loop, [this] { give_up(); }),
        timer_(loop) {}

  const std::string& id() const { return id_; }
  const Principal* owner() const { return owner_; }
  std::size_t kept_bytes() const { return kept_bytes_; }
  bool ended() const { return status_ != Status::kWorking && status_ != Status::kInputRequired; }

  // `server` is {"name","version"}.
  void run(InvocationRequest request, InvokeFunction run, const Json& server);
  // The state as the protocol has it. kWhole: with the result or the error, or with what the client is asked.
  enum class Extent { kBrief, kWhole };
  Json state(Extent extent) const;
  void cancel();
  void take_inputs(const Json& answers);
  void forget_after(std::chrono::milliseconds time, std::function<void()> forget);
  void when_ended(std::function<void()> action) { ended_ = std::move(action); }

  // What its invocation reports.
  void complete(Json result) { end(Status::kCompleted, std::move(result)); }
  void fail(const RpcError& error) { end(Status::kFailed, error_object(error)); }
  void ask(InputRequests requests, Json state);
  void tell(const Json& progress);

 private:
  class OwnRequester;

  void end(Status status, Json outcome);
  void stop(Status status, Json outcome);
  void give_up();
  void become(Status status);

  const std::string id_;
  const Principal* const owner_;
  const ChangedFunction changed_;
  const std::string created_ = now();
  std::string updated_ = created_;
  Status status_ = Status::kWorking;
  std::string message_;
  Json outcome_;  // the result, or the error
  std::size_t kept_bytes_ = 0;
  InputRequests asked_;
  Json answers_ = Json::object();
  Json kept_state_;
  std::shared_ptr<Session> session_;
  std::shared_ptr<Invocation> waiting_;  // for answers
  std::function<void()> ended_;
  Deadline patience_;  // with a client that was asked something
  Timer timer_;
};

// How the invocation of a task speaks.
class Task::OwnRequester final : public Requester {
 public:
  OwnRequester(std::weak_ptr<Task> task, const Revision& revision, const Json& server)
      : task_(std::move(task)), revision_(revision), server_(server) {}

  void result(Json body) override {
    const auto task = task_.lock();
    if (task) task->complete(revision_.era.result(content_for(revision_, std::move(body)), std::nullopt, server_));
  }
  void error(const RpcError& error) override {
    if (const auto task = task_.lock()) task->fail(error);
  }
  void ask(Invocation& invocation, InputRequests requests, Json state) override {
    const auto task = task_.lock();
    if (!task || task->ended()) return;
    if (requests.empty()) return invocation.run_again(Json::object(), std::move(state));
    task->waiting_ = invocation.shared_from_this();
    task->ask(std::move(requests), std::move(state));
  }
  void notify(std::string_view method, const Json& params) override {
    const auto task = task_.lock();
    if (task && method == "notifications/progress") task->tell(params);
  }
  bool ready() const override { return true; }

 private:
  const std::weak_ptr<Task> task_;
  const Revision& revision_;
  const Json server_;
};

void Task::run(InvocationRequest request, InvokeFunction run, const Json& server) {
  session_ = request.session->sibling();
  const auto memory = request.reply->memory();
  // The client's request has been answered already, and the client asks for what has become of it.
  const PeerFacts& client = request.reply->peer().facts();
  const auto nobody = std::make_shared<SilentPeer>(client.transport, client.address);
  request.reply = std::make_shared<Reply>(*nobody, request.reply->id());
  request.reply->set_memory(memory);
  request.session = session_;
  request.outlives_exchange = true;
  request.progress_token = id_;  // progress is wanted, for the status message
  auto requester = std::make_unique<OwnRequester>(weak_from_this(), *request.client.revision, server);
  const auto invocation = std::make_shared<Invocation>(std::move(request), std::move(requester), std::move(run));
  invocation->run();
}

Json Task::state(Extent extent) const {
  static constexpr std::array<std::string_view, 5> kNames{"working", "input_required", "completed", "failed",
                                                          "cancelled"};
  Json state{{"taskId", id_},
             {"status", kNames.at(static_cast<std::size_t>(status_))},
             {"createdAt", created_},
             {"lastUpdatedAt", updated_},
             {"ttlMs", kKeptFor.count()},
             {"pollIntervalMs", kBetweenPolls.count()}};
  if (!message_.empty()) state["statusMessage"] = message_;
  if (extent == Extent::kBrief) return state;
  if (status_ == Status::kCompleted) state["result"] = outcome_;
  if (status_ == Status::kFailed) state["error"] = outcome_;
  if (status_ == Status::kInputRequired) {
    Json open = Json::object();
    for (const auto& request : asked_) {
      if (!answers_.contains(request.key)) open[request.key] = {{"method", request.method}, {"params", request.params}};
    }
    state["inputRequests"] = std::move(open);
  }
  return state;
}

void Task::become(Status status) {
  status_ = status;
  updated_ = now();
  changed_(*this);
}

void Task::end(Status status, Json outcome) {
  if (ended() && !has_fault("what a task has come to becomes something else")) return;
  patience_.clear();
  kept_bytes_ = to_text(outcome).size();
  outcome_ = std::move(outcome);
  waiting_ = nullptr;
  become(status);
  if (const auto action = std::exchange(ended_, {})) action();
}

void Task::cancel() { stop(Status::kCancelled, nullptr); }

// The client may have forgotten the task, and nothing reports that.
void Task::give_up() {
  stop(Status::kFailed,
       error_object(RpcError(ErrorCode::kCancelled, "the client has not answered in time", Json{{"began", true}})));
}

void Task::stop(Status status, Json outcome) {
  if (ended()) return;
  const auto session = session_;
  const auto waiting = waiting_;
  end(status, std::move(outcome));
  if (!has_fault("the run of a task that was cancelled goes on")) session->cancel_all();
}

void Task::ask(InputRequests requests, Json state) {
  asked_ = std::move(requests);
  answers_ = Json::object();
  kept_state_ = std::move(state);
  if (!has_fault("a task waits for ever for a client that has forgotten it")) patience_.set_after(kKeptFor);
  become(Status::kInputRequired);
}

void Task::take_inputs(const Json& answers) {
  if (status_ != Status::kInputRequired) return;
  for (const auto& request : asked_) {
    if (const auto answer = answers.find(request.key); answer != answers.end()) answers_[request.key] = *answer;
  }
  if (answers_.size() < asked_.size()) return;
  const auto invocation = std::exchange(waiting_, nullptr);
  asked_.clear();
  patience_.clear();
  become(Status::kWorking);
  invocation->run_again(std::exchange(answers_, Json::object()), std::exchange(kept_state_, nullptr));
}

void Task::tell(const Json& progress) {
  if (ended() || !progress.contains("message")) return;
  message_ = progress["message"].get<std::string>();
  updated_ = now();
}

void Task::forget_after(std::chrono::milliseconds time, std::function<void()> forget) {
  timer_.expires_after(time);
  timer_.async_wait([forget = std::move(forget)](const asio::error_code& error) {
    if (!error) forget();
  });
}

Json Tasks::begin(InvocationRequest request, InvokeFunction run) {
  const auto task = std::make_shared<Task>(loop_, request.session->principal,
                                           [this](const Task& changed) { this->changed(changed); });
  tasks_.emplace(task->id(), task);
  task->when_ended([this, weak = std::weak_ptr(task)] {
    if (const auto ended = weak.lock()) keep(*ended);
  });
  task->run(std::move(request), std::move(run), server_);
  Json created = task->state(Task::Extent::kBrief);
  created["resultType"] = "task";
  return created;
}

void Tasks::changed(const Task& task) {
  if (has_fault("who listens is not told what has become of a task")) return;
  if (changed_) changed_(task.owner(), task.id(), task.state(Task::Extent::kWhole));
  if (changed_ && has_fault("what has become of a task is told twice"))
    changed_(task.owner(), task.id(), task.state(Task::Extent::kWhole));
}

// The oldest that have ended make room for others of the same owner.
bool Tasks::make_room_for(const Principal* owner) {
  const auto is_own = [owner](const auto& entry) { return entry.second->owner() == owner; };
  for (;;) {
    const auto own = static_cast<std::size_t>(std::count_if(tasks_.begin(), tasks_.end(), is_own));
    if (tasks_.size() < kMost && own < kMostOfOne && kept_bytes_ <= kKeptBytes && share_.has_room_for(0)) return true;
    const auto oldest =
        std::find_if(ended_.begin(), ended_.end(), [&](const auto& id) { return tasks_.at(id)->owner() == owner; });
    if (oldest == ended_.end()) return false;
    forget(std::string(*oldest));
  }
}

void Tasks::keep(Task& task) {
  ended_.push_back(task.id());
  kept_bytes_ += task.kept_bytes();
  while (kept_bytes_ > kKeptBytes) {
    const auto gives_way = next_to_give_way(task);
    if (!gives_way) break;
    forget(*gives_way);
  }
  share_.set(kept_bytes_);
  if (has_fault("a task that nobody asks for is kept")) return;
  task.forget_after(kKeptFor, [this, id = task.id()] { forget(id); });
}

std::optional<std::string> Tasks::next_to_give_way(const Task& stays) const {
  std::map<const Principal*, std::size_t> bytes;
  for (const auto& id : ended_) bytes[tasks_.at(id)->owner()] += tasks_.at(id)->kept_bytes();
  const auto most =
      std::ranges::max_element(bytes, [](const auto& one, const auto& other) { return one.second < other.second; });
  const auto oldest = [&](const auto& may_go) {
    return std::ranges::find_if(ended_, [&](const auto& id) {
      const Task& task = *tasks_.at(id);
      return &task != &stays && may_go(task);
    });
  };
  auto found = oldest([&](const Task& task) { return task.owner() == most->first; });
  if (found == ended_.end()) found = oldest([](const Task& task) { return task.kept_bytes() > 0; });
  if (found == ended_.end()) return std::nullopt;
  return *found;
}

void Tasks::forget(const std::string& id) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return;
  kept_bytes_ -= found->second->kept_bytes();
  share_.set(kept_bytes_);
  std::erase(ended_, id);
  tasks_.erase(found);
}

Task& Tasks::find(const Json& params, const Principal* principal) const {
  const auto id = params.find("taskId");
  if (id == params.end() || !id->is_string()) throw InvalidParams("params.taskId", "expected string");
  const auto found = tasks_.find(id->get<std::string>());
  if (found == tasks_.end() || found->second->owner() != principal) {
    throw InvalidParams("params.taskId", "no such task, or it has expired");
  }
  return *found->second;
}

Json Tasks::get(const Json& params, const Principal* principal) const {
  return find(params, principal).state(Task::Extent::kWhole);
}

Json Tasks::update(const Json& params, const Principal* principal) {
  const auto task = find(params, principal).shared_from_this();
  const auto answers = params.find("inputResponses");
  if (answers == params.end() || !answers->is_object()) throw InvalidParams("params.inputResponses", "expected object");
  task->take_inputs(*answers);
  return Json::object();
}

Json Tasks::cancel(const Json& params, const Principal* principal) {
  find(params, principal).shared_from_this()->cancel();
  return Json::object();
}

void Tasks::cancel_all() {
  ended_.clear();
  kept_bytes_ = 0;
  share_.set(0);
  for (const auto& [id, task] : std::exchange(tasks_, {})) {
    task->when_ended(nullptr);
    task->cancel();
  }
}

}  // namespace rkllm_mcp::mcp
