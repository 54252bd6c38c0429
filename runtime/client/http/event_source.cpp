#include "client/http/event_source.hpp"

#include "client/connection.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace rkllm_mcp::client {
namespace {

constexpr std::chrono::milliseconds kUsualPause{1000};
constexpr std::chrono::milliseconds kShortestPause{50};
constexpr std::chrono::milliseconds kLongestPause{30'000};
constexpr int kMostFailures = 5;  // in a row

}  // namespace

EventSource::EventSource(const HttpServerState& server, HttpRoundTrip& trip, Deliver deliver)
    : server_(server), trip_(trip), deliver_(std::move(deliver)), parser_(kLongestMessage) {}

bool EventSource::feed(std::string_view bytes) {
  try {
    parser_.feed(bytes, [this](const SseEvent& event) {
      // Events without data only carry an id: where a later connection has to begin.
      const bool is_message = event.type.empty() || event.type == "message";
      if (is_message && !event.data.empty()) deliver_(event.data);
    });
    return true;
  } catch (const ConnectionError&) {
    is_too_long_ = true;
    return false;
  }
}

EventSource::End EventSource::follow(const std::function<bool()>& is_done) {
  for (;;) {
    parser_.restart();
    status_ = 0;
    bool is_refused = false;
    const auto end = trip_.run(
        server_.get(parser_.last_id()),
        [this, &is_refused](const HttpHead& head) {
          status_ = head.status;
          is_refused = head.status != 200 || head.media_type != "text/event-stream";
          return !is_refused;
        },
        [this](std::string_view bytes) { return feed(bytes); });
    if (is_done()) return End::kDone;
    if (is_refused) return End::kRefused;
    if (end == HttpRoundTrip::End::kStopped) return End::kStopped;
    if (end == HttpRoundTrip::End::kNoConnection) return End::kGone;
    // A response that ends is no failure: the server may want to be asked now and then.
    failures_ = status_ == 200 ? 0 : failures_ + 1;
    if (failures_ == kMostFailures) return End::kGone;
    if (!pause()) return End::kStopped;
  }
}

bool EventSource::pause() {
  const auto wanted = parser_.retry().value_or(kUsualPause) * (1 << failures_);
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, std::clamp(wanted, kShortestPause, kLongestPause), [this] { return stopped_; });
}

void EventSource::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  trip_.stop();
}

}  // namespace rkllm_mcp::client
