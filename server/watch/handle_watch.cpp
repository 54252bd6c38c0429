#include "watch/handle_watch.hpp"

#include "jsonrpc/envelope.hpp"
#include "run_loop.hpp"

#include <rkllm_mcp/json.hpp>

#include <asio/post.hpp>

#include <chrono>
#include <new>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::chrono::milliseconds kGathering{50};

}  // namespace

void HandleWatch::note_change(std::string_view handle) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    if (!handle.empty()) touched_.emplace(handle);
    if (poked_) return;
    asio::post(loop_, [this] { look_later(); });
    poked_ = true;
  } catch (const std::bad_alloc&) {  // the next change brings this one along
  }
}

void HandleWatch::look_later() {
  if (stopped_) return;
  or_else(
      [this] {
        timer_.expires_after(kGathering);
        timer_.async_wait([this](const asio::error_code& error) {
          if (!error && !stopped_) look();
        });
      },
      [this] {
        const std::lock_guard lock(mutex_);
        poked_ = false;
      });
}

void HandleWatch::stop() {
  stopped_ = true;
  timer_.cancel();
}

void HandleWatch::look() {
  std::set<std::string> touched;
  {
    const std::lock_guard lock(mutex_);
    poked_ = false;
    touched.swap(touched_);
  }
  if (!server_.is_watched(kHandlesUri)) return told_.clear();
  std::map<std::string, std::string> now = states();
  for (const auto& [uri, state] : now) {
    const auto known = told_.find(uri);
    if (known == told_.end() || known->second != state) server_.resource_updated(uri);
  }
  for (const auto& [uri, state] : told_) {
    if (!now.contains(uri)) server_.resource_updated(uri);
  }
  for (const auto& handle : touched) {
    const std::string uri = std::string(kHandlesUri) + "/" + handle;
    if (!now.contains(uri) && !told_.contains(uri)) server_.resource_updated(uri);
  }
  told_ = std::move(now);
}

std::map<std::string, std::string> HandleWatch::states() const {
  std::map<std::string, std::string> states;
  Json all = Json::array();
  for (const auto& handle : handles_()) {
    Json state = description_of(handle);
    for (Json& waiting : state["queue"]) waiting.erase("waiting_ms");
    states[std::string(kHandlesUri) + "/" + handle.id] = to_text(state);
    all.push_back(std::move(state));
  }
  states[std::string(kHandlesUri)] = to_text(all);
  return states;
}

}  // namespace rkllm_mcp
