// A run as a tool of MCP: what its client is told, in notifications and in the result, and what is wrong with that.
#pragma once

#include "sim_backend.hpp"
#include "world.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp::simulation {

class ToolCall {
 public:
  ToolCall(int id, std::string name, std::size_t tokens) : id_(id), name_(std::move(name)), tokens_(tokens) {}

  int id() const { return id_; }                     // of the request
  const std::string& name() const { return name_; }  // of the run
  bool has_ended() const { return has_ended_; }

  // params of tools/call.
  Json params(std::string_view handle) const {
    return Json{{"name", "run"},
                {"arguments",
                 {{"handle", handle}, {"prompt", SimBackend::prompt(name_, tokens_)}, {"progress_message", "delta"}}},
                {"_meta", {{"progressToken", name_}}}};
  }

  // A message of the call. Throws a Violation.
  void take(std::string_view text) {
    const Json message = Json::parse(text, nullptr, false);
    if (has_ended_) complain("after its answer comes", text);
    if (message.value("method", "") == "notifications/progress") return take_progress(message["params"], text);
    if (message.value("id", 0) != id_ || !message.contains("result")) complain("it is answered with", text);
    has_ended_ = true;
    World::saw("a tool was called");
    const Json& structured = message["result"]["structuredContent"];
    if (!structured.is_object() || structured.value("text", "") != whole()) complain("its text is not whole:", text);
  }

 private:
  void take_progress(const Json& params, std::string_view text) {
    World::saw("a tool's progress was told");
    const double progress = params.value("progress", 0.0);
    if (params.value("progressToken", "") != name_) complain("it hears of another's progress:", text);
    if (progress <= progress_) complain("progress that does not grow:", text);
    progress_ = progress;
    told_ += params.value("message", "");
    if (whole().compare(0, told_.size(), told_) != 0) complain("a notification is missing, or comes twice:", text);
  }
  std::string whole() const { return SimBackend::text(name_, tokens_); }
  [[noreturn]] void complain(const std::string& what, std::string_view text) const {
    throw Violation{name_ + ": " + what + " " + std::string(text)};
  }

  const int id_;
  const std::string name_;
  const std::size_t tokens_;
  std::string told_;  // by notifications
  double progress_ = -1;
  bool has_ended_ = false;
};

}  // namespace rkllm_mcp::simulation
