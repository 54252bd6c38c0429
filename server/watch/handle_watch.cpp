#include "watch/handle_watch.hpp"

#include "jsonrpc/envelope.hpp"

#include <rkllm_mcp/json.hpp>

#include <asio/post.hpp>

#include <chrono>

namespace rkllm_mcp {
namespace {

constexpr std::chrono::milliseconds kGathering{50};

}  // namespace

void HandleWatch::poke() {
  if (poked_.exchange(true)) return;
  asio::post(loop_, [this] {
    if (stopped_) return;
    timer_.expires_after(kGathering);
    timer_.async_wait([this](const asio::error_code& error) {
      if (!error && !stopped_) look();
    });
  });
}

void HandleWatch::stop() {
  stopped_ = true;
  timer_.cancel();
}

void HandleWatch::look() {
  poked_ = false;
  std::map<std::string, std::string> now = states();
  for (const auto& [uri, state] : now) {
    const auto known = told_.find(uri);
    if (known == told_.end() || known->second != state) server_.resource_updated(uri);
  }
  for (const auto& [uri, state] : told_) {
    if (!now.contains(uri)) server_.resource_updated(uri);
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
