#include "task_client.hpp"

#include "stateless_request.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace rkllm_mcp::simulation {
namespace {

constexpr std::size_t kMostTasks = 3;
constexpr int kStepsToStopTask = 60;

}  // namespace

TaskClient::TaskClient(World& world, SimServer& server, std::string name)
    : world_(world), server_(server), name_(std::move(name)) {}

void TaskClient::plan() {
  world_.may_happen(name_ + " acts", [self = shared_from_this()] { self->act(); });
}

void TaskClient::act() {
  if (settled_) return;
  const auto with = [this](void (TaskClient::*action)(Task&), bool (*is_wanted)(const Task&)) {
    if (Task* const task = one_of(is_wanted)) (this->*action)(*task);
  };
  const auto can_be_given = [](const Task& each) { return each.is_known() && !each.wanted.empty() && !each.is_giving; };
  switch (world_.choices().choose(12)) {
    case 0:
    case 1: begin(false); break;
    case 2: begin(true); break;
    case 3: with(&TaskClient::look, [](const Task& each) { return each.is_known() && !each.is_asking; }); break;
    case 4:
    case 5: with(&TaskClient::give, can_be_given); break;
    case 6: with(&TaskClient::cancel, [](const Task& each) { return each.is_known() && !each.is_cancelled; }); break;
    case 7: with(&TaskClient::listen, [](const Task& each) { return each.is_known() && !each.listener; }); break;
    case 8: set_reading(false); break;
    case 9: set_reading(true); break;
    default: break;  // it waits
  }
  plan();
}

TaskClient::Task* TaskClient::one_of(bool (*is_wanted)(const Task&)) {
  std::vector<Task*> found;
  for (Task& task : tasks_) {
    if (is_wanted(task)) found.push_back(&task);
  }
  return found.empty() ? nullptr : found[world_.choices().choose(static_cast<std::uint32_t>(found.size()))];
}

std::shared_ptr<HttpTalk> TaskClient::ask(const std::string& method, Json params,
                                          std::function<void(const Json& result)> then,
                                          std::function<void(const Json& message)> told) {
  const int number = ++connections_;
  const auto talk = HttpTalk::start(server_.connect_http(name_ + ":" + std::to_string(number)), [this, number] {
    const auto found = talks_.find(number);
    if (found == talks_.end()) return;
    const auto ended = found->second;
    talks_.erase(found);
    if (ended->waiting() == 0) return;
    if (!ended->connection().was_left_unread(SimServer::kStall / 4)) {
      throw Violation{name_ + ": the server has closed instead of answering"};
    }
    // Whether the server got the request is not known, so nothing more is asked about its task.
    for (Task& task : tasks_) {
      task.is_left = task.is_left || task.is_asking || task.is_giving || task.id.empty();
      if (task.listener == ended) task.must_hear = task.is_confirmed = false;
    }
  });
  talks_[number] = talk;
  Json capabilities = answering_capabilities();
  capabilities["extensions"][mcp::kTasksExtension] = Json::object();
  HttpTalk::Hearer hearer;
  hearer.answered = [this, number, then = std::move(then)](const HttpTalk::Answer& answer) {
    const auto kept = talks_.at(number);
    talks_.erase(number);
    kept->connection().finish();
    if (answer.streamed) return then(nullptr);
    const Json reply = Json::parse(answer.body, nullptr, false);
    if (reply.is_discarded() || !reply.contains("result")) {
      throw Violation{name_ + ": a request about a task is answered with " + answer.body};
    }
    then(reply["result"]);
  };
  hearer.event = [told = std::move(told)](const HttpTalk::Event& event) {
    if (told && !event.data.empty()) told(Json::parse(event.data));
  };
  ask_without_session(*talk, number, method, std::move(params), std::move(capabilities), std::move(hearer));
  return talk;
}

void TaskClient::begin(bool asks) {
  if (tasks_.size() == kMostTasks) return;
  const int id = static_cast<int>(tasks_.size()) + 1;
  const std::string name = name_ + "." + std::to_string(id);
  Choices& choices = world_.choices();
  ToolCall tool = asks ? ToolCall(id, AskingTool::Wish{name, 1 + choices.choose(AskingTool::kMostWanted),
                                                       1 + choices.choose(AskingTool::kMostRounds)})
                       : ToolCall(id, name, choices.choose(SimBackend::kTokens), server_.excuse());
  Task& task = tasks_.emplace_back(Task{std::move(tool)});
  ask("tools/call", task.tool.params(SimBackend::kHandles[choices.choose(2)]),
      [this, &task](const Json& result) { take_created(task, result); });
}

void TaskClient::take_created(Task& task, const Json& result) {
  if (result.value("resultType", "") != "task") complain(task, "it does not become a task:", result);
  World::saw("a task was begun");
  task.id = result.at("taskId");
}

void TaskClient::look(Task& task) {
  task.is_asking = true;
  ask("tasks/get", {{"taskId", task.id}},
      [this, &task, had_ended = !task.end.empty(), given = task.given,
       listened = task.is_confirmed](const Json& state) {
        task.is_asking = false;
        take_state(task, state, had_ended);
        const Json wanted = state.value("inputRequests", Json::object());
        for (const Json& request : wanted) {
          if (given.count(request.at("params").at("about")) != 0) {
            complain(task, "what was given is wanted again:", state);
          }
        }
        if (listened && task.is_confirmed && task.end.empty()) task.must_hear = true;
      });
}

void TaskClient::take_state(Task& task, const Json& state, bool must_have_ended) {
  if (state.value("taskId", "") != task.id) complain(task, "that is another task:", state);
  const std::string status = state.at("status");
  if (status == "working" || status == "input_required") {
    if (must_have_ended) complain(task, "it had ended:", state);
    if (status == "working") return;
    for (const auto& [key, request] : state.at("inputRequests").items()) {
      const std::string about = request.at("params").at("about");
      if (about.rfind(task.tool.name() + "/", 0) != 0) complain(task, "it is asked for another:", state);
      if (task.given.count(about) == 0) task.wanted[key] = request.at("params");
    }
    World::saw("a task wanted something");
    return;
  }
  take_end(task, state);
}

void TaskClient::take_end(Task& task, const Json& state) {
  const std::string status = state.at("status");
  const std::string end = status + state.value("result", Json()).dump();
  if (task.end == end) return;
  if (!task.end.empty()) complain(task, "it ends in two ways:", state);
  task.end = end;
  if (status == "completed") {
    World::saw("a task was completed");
    task.tool.take_result(state.at("result"), state.dump());
  } else if (status == "cancelled" && task.is_cancelled) {
    World::saw("a task was cancelled");
  } else {
    complain(task, "it ends otherwise than it should:", state);
  }
}

// Some of what it wants, or all.
void TaskClient::give(Task& task) {
  Json responses = Json::object();
  std::set<std::string> abouts;
  const bool is_all = !world_.choices().happens(3);
  for (const auto& [key, params] : task.wanted) {
    responses[key] = AskingTool::answer_to(params);
    abouts.insert(params.at("about").get<std::string>());
    if (!is_all) break;
  }
  task.is_giving = true;
  ask("tasks/update", {{"taskId", task.id}, {"inputResponses", responses}},
      [&task, responses, abouts](const Json& /*result*/) {
        World::saw("a task was given what it wanted");
        task.is_giving = false;
        for (const auto& [key, answer] : responses.items()) {
          const auto wanted = task.wanted.find(key);
          if (wanted != task.wanted.end() && abouts.count(wanted->second.at("about")) != 0) task.wanted.erase(wanted);
        }
        task.given.insert(abouts.begin(), abouts.end());
      });
}

void TaskClient::cancel(Task& task) {
  task.is_cancelled = true;
  ask("tasks/cancel", {{"taskId", task.id}}, [&task](const Json& /*result*/) { task.steps_since_cancelled = 0; });
}

void TaskClient::listen(Task& task) {
  task.listener = ask(
      "subscriptions/listen", {{"notifications", {{"taskIds", {task.id}}}}},
      [this, &task](const Json& result) { complain(task, "listening ends:", result); },
      [this, &task](const Json& message) { take_notification(task, message); });
}

void TaskClient::take_notification(Task& task, const Json& message) {
  const std::string method = message.at("method");
  if (method == "notifications/subscriptions/acknowledged") {
    task.is_confirmed = true;
    return;
  }
  if (method != "notifications/tasks" || !task.is_confirmed) complain(task, "it hears of something else:", message);
  World::saw("a client was told what has become of a task");
  const Json& state = message.at("params");
  const std::string status = state.at("status");
  if (task.has_heard) complain(task, "it hears of it behind its end:", message);
  take_state(task, state, false);
  task.has_heard = status != "working" && status != "input_required";
}

void TaskClient::check() {
  for (Task& task : tasks_) {
    if (task.steps_since_cancelled < 0 || ++task.steps_since_cancelled <= kStepsToStopTask) continue;
    const std::string& name = task.tool.name();
    if (server_.backend().is_making(name) || server_.asking().open(name) > 0)
      throw Violation{name + ", a cancelled task, goes on"};
  }
}

void TaskClient::set_reading(bool reading) {
  for (const auto& [number, talk] : talks_) talk->connection().set_reading(reading);
}

void TaskClient::settle() {
  settled_ = true;
  set_reading(true);
  for (Task& task : tasks_) {
    if (!world_.choices().happens(4)) continue;
    World::saw("a task was left");
    task.is_left = true;
  }
  settle_tasks();
}

void TaskClient::settle_tasks() {
  world_.may_happen(name_ + " settles", [self = shared_from_this()] {
    bool is_owed_any = false;
    for (Task& task : self->tasks_) {
      if (is_owed(task)) {
        is_owed_any = true;
        if (task.is_known() && !task.is_asking && task.end.empty()) self->look(task);
        if (task.is_known() && !task.is_giving && !task.wanted.empty()) self->give(task);
      } else if (task.listener) {
        task.listener->connection().close();
        std::erase_if(self->talks_, [&task](const auto& each) { return each.second == task.listener; });
        task.listener = nullptr;
      }
    }
    if (is_owed_any || !self->talks_.empty()) self->settle_tasks();
  });
}

bool TaskClient::is_done() const {
  return settled_ && talks_.empty() && std::none_of(tasks_.begin(), tasks_.end(), is_owed);
}

std::string TaskClient::owed() const {
  std::string text = name_;
  for (const Task& task : tasks_) {
    if (is_owed(task)) text += " " + task.tool.name() + (task.end.empty() ? "" : " (to be told)");
  }
  return text + " (" + std::to_string(talks_.size()) + " answers)";
}

void TaskClient::complain(const Task& task, const std::string& what, const Json& text, Place place) const {
  throw Violation{task.tool.name() + ": " + what + " " + text.dump(), place};
}

}  // namespace rkllm_mcp::simulation
