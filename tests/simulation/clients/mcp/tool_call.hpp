// A tool's call: what its client is told, in notifications, questions and the result, and what is wrong with that. The
// tool is a run, or one that asks its client for something, or one of another server's.
#pragma once

#include "simulation/server/asking_tool.hpp"
#include "simulation/server/sim_backend.hpp"
#include "simulation/server/sim_upstream.hpp"
#include "simulation/world/world.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp::simulation {

class ToolCall {
 public:
  // Whether the call may have failed with this message, because of a fault in a model or in the other server.
  using Excuses = std::function<bool(std::string_view told)>;

  // A run, of this server's model or another server's.
  enum class Where { kHere, kFar };
  ToolCall(int id, std::string name, std::size_t tokens, Excuses excuses, Where where = Where::kHere)
      : id_(id),
        name_(std::move(name)),
        tool_(where == Where::kHere ? "run" : std::string(SimUpstream::kName) + "_" + std::string(SimUpstream::kSays)),
        whole_(SimBackend::text(name_, tokens)),
        tokens_(tokens),
        is_far_(where == Where::kFar),
        excuses_(std::move(excuses)) {}
  ToolCall(int id, AskingTool::Wish wish)
      : id_(id),
        name_(wish.name),
        tool_(AskingTool::kName),
        whole_(wish.answer()),
        tokens_(0),
        wish_(std::move(wish)) {}
  int id() const { return id_; }                     // of the request
  const std::string& name() const { return name_; }  // of the run
  const std::string& tool() const { return tool_; }
  bool is_far() const { return is_far_; }
  bool has_ended() const { return has_ended_; }

  // params of tools/call.
  Json params(std::string_view handle) const {
    if (wish_) return Json{{"name", tool()}, {"arguments", wish_->arguments()}};
    if (is_far()) return Json{{"name", tool()}, {"arguments", {{"name", name_}, {"tokens", tokens_}}}};
    return Json{{"name", tool()}, {"arguments", {{"handle", handle}, {"prompt", SimBackend::prompt(name_, tokens_)}}}};
  }
  Json params_with_progress(std::string_view handle) const {
    Json all = params(handle);
    if (!wish_) all["arguments"]["progress_message"] = "delta";
    all["_meta"] = {{"progressToken", name_}};
    return all;
  }

  // A request of the server to the client that is not answered yet. They are kept by their ids, or by their keys.
  struct Question {
    Json id;
    Json params;
  };
  std::deque<Question>& questions() { return questions_; }
  const std::deque<Question>& questions() const { return questions_; }
  // The client refuses an answer: so the call fails.
  void refused() { is_refused_ = true; }

  // A message of the call. Throws a Violation.
  void take(std::string_view text) {
    const Json message = Json::parse(text, nullptr, false);
    if (has_ended_) complain("after its answer comes", text);
    const std::string method = message.value("method", "");
    if (method == "notifications/progress") return take_progress(message["params"], text);
    if (!method.empty() && message.contains("id")) return take_question(message["id"], message["params"], text);
    if (message.value("id", 0) != id_) complain("it is answered with", text);
    if (is_refused_ && message.contains("error")) {
      World::saw("a client refused what a tool asked for");
      has_ended_ = true;
      return;
    }
    const auto result = message.find("result");
    if (result != message.end()) return take_result(*result, text);
    if (!is_excused(text)) complain("it is answered with", text);
  }
  void take_question(const Json& id, const Json& params, std::string_view text) {
    World::saw(is_far() ? "a client was asked by another server" : "a client was asked by a tool");
    const std::string about = params.value("about", "");
    // Another server does not say which of the client's calls its question is about.
    const std::string own = is_far() ? name_.substr(0, name_.rfind('.') + 1) : name_ + "/";
    if (about.rfind(own, 0) != 0) complain("it is asked for another:", text);
    if (!asked_.insert(about).second) complain("it is asked twice:", text);
    questions_.push_back({id, params});
  }
  void take_result(const Json& result, std::string_view text) {
    if (result.value("isError", false) && is_excused(text)) return;
    has_ended_ = true;
    World::saw(wish_      ? "a tool that asks was answered"
               : is_far() ? "another server's tool was called"
                          : "a tool was called");
    const auto structured = result.find("structuredContent");
    if (structured == result.end() || structured->value("text", "") != whole_) complain("its text is not whole:", text);
  }
  [[noreturn]] void complain(const std::string& what, std::string_view text, Place place = Place::here()) const {
    throw Violation{name_ + ": " + what + " " + std::string(text), place};
  }

 private:
  bool is_excused(std::string_view text) {
    if (!excuses_(text)) return false;
    World::saw(is_far() ? "a call of another server's tool failed" : "a tool's call in a worker failed");
    has_ended_ = true;
    return true;
  }
  void take_progress(const Json& params, std::string_view text) {
    World::saw("a tool's progress was told");
    const double progress = params.value("progress", 0.0);
    if (params.value("progressToken", "") != name_) complain("it hears of another's progress:", text);
    if (progress <= progress_) complain("progress that does not grow:", text);
    progress_ = progress;
    told_ += params.value("message", "");
    if (whole_.compare(0, told_.size(), told_) != 0) complain("a notification is missing, or comes twice:", text);
  }

  const int id_;
  const std::string name_;
  const std::string tool_;
  const std::string whole_;  // what the result says
  const std::size_t tokens_;
  const std::optional<AskingTool::Wish> wish_{};
  const bool is_far_ = false;
  const Excuses excuses_ = [](std::string_view /*told*/) { return false; };
  std::deque<Question> questions_;
  std::set<std::string> asked_;
  bool is_refused_ = false;
  std::string told_;  // the text that notifications have brought so far
  double progress_ = -1;
  bool has_ended_ = false;
};

}  // namespace rkllm_mcp::simulation
