#include "watch/handle_watch.hpp"

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
  std::map<std::string, std::string> now;
  for (const auto& uri : server_.watched(kHandlesUri)) {
    const std::string state = now.emplace(uri, state_of(uri)).first->second;
    const auto known = told_.find(uri);
    if (known == told_.end() || known->second != state) server_.resource_updated(uri);
  }
  told_ = std::move(now);
}

std::string HandleWatch::state_of(const std::string& uri) const {
  Json all = Json::array();
  for (const auto& handle : handles_()) {
    if (uri != kHandlesUri && uri != std::string(kHandlesUri) + "/" + handle.id) continue;
    Json state = description_of(handle);
    for (Json& waiting : state["queue"]) waiting.erase("waiting_ms");
    all.push_back(std::move(state));
  }
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace rkllm_mcp
