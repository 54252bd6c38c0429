#include "upstreams/upstream.hpp"

#include "mcp/tool_error.hpp"

#include <rkllm_mcp/errors.hpp>

#include <utility>
#include <variant>

namespace rkllm_mcp {
namespace {

// A result as the tool's own: what its revision adds for the way is left out.
Json stripped(Json result) {
  if (!result.is_object()) return result;
  result.erase("resultType");
  result.erase("_meta");
  return result;
}

}  // namespace

Upstream::Upstream(asio::io_context& loop, std::string name, const client::Endpoint& endpoint, spdlog::logger& log,
                   std::function<void()> changed)
    : name_(std::move(name)),
      url_(endpoint.url()),
      log_(log),
      changed_(std::move(changed)),
      link_(UpstreamLink::start(
          loop, endpoint,
          {.on_tools = [this](std::vector<Json> tools) { take_tools(std::move(tools)); },
           .on_lost = [this](const std::string& reason) { lose(reason); },
           .on_progress = [this](UpstreamLink::Key key, const Json& progress) { take_progress(key, progress); },
           .on_end = [this](UpstreamLink::Key key, client::Outcome outcome) { take_end(key, std::move(outcome)); }})) {}

Json Upstream::unavailable(const std::string& reason) const {
  return tool_error(runtime_unavailable("upstream " + name_ + ": " + reason));
}

Json Upstream::status() const {
  return Json{{"url", url_},
              {"connected", reason_.empty()},
              {"tools", tools_.size()},
              {"reason", reason_.empty() ? Json(nullptr) : Json(reason_)}};
}

void Upstream::take_tools(std::vector<Json> tools) {
  log_.info("upstream {}: {} tools from {}", name_, tools.size(), url_);
  reason_.clear();
  if (tools == tools_) return;
  tools_ = std::move(tools);
  changed_();
}

void Upstream::lose(const std::string& reason) {
  if (reason != reason_) log_.warn("upstream {}: {}", name_, reason);
  reason_ = reason;
  for (const auto& [key, invocation] : std::exchange(calls_, {})) {
    invocation->result(unavailable(reason));
  }
  if (std::exchange(tools_, {}).empty()) return;
  changed_();
}

void Upstream::call(const std::string& tool, const std::shared_ptr<Invocation>& invocation) {
  if (!reason_.empty()) return invocation->result(unavailable(reason_));
  const auto key = next_key_++;
  calls_.emplace(key, invocation);
  invocation->on_cancelled([this, key] {
    if (calls_.erase(key) > 0) link_->cancel(key);
  });
  using Progress = UpstreamLink::Call::Progress;
  link_->call({key, tool, invocation->arguments(),
               invocation->progress_token().is_null() ? Progress::kUnwanted : Progress::kWanted});
}

void Upstream::take_progress(UpstreamLink::Key key, Json progress) {
  const auto found = calls_.find(key);
  if (found == calls_.end()) return;
  progress["progressToken"] = found->second->progress_token();
  found->second->notify("notifications/progress", progress);
}

void Upstream::take_end(UpstreamLink::Key key, client::Outcome outcome) {
  const auto found = calls_.find(key);
  if (found == calls_.end()) return;
  const auto invocation = std::move(found->second);
  calls_.erase(found);
  link_->cancel(key);  // it has ended: only its id is let go of
  if (const auto* error = std::get_if<client::RemoteError>(&outcome)) {
    if (error->code == client::kInternalError) return invocation->result(unavailable(error->message));
    return invocation->error(RpcError(static_cast<ErrorCode>(error->code), error->message, error->data));
  }
  invocation->result(stripped(std::get<Json>(std::move(outcome))));
}

}  // namespace rkllm_mcp
