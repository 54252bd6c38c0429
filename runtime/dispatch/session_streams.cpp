#include "dispatch/session_streams.hpp"

#include <algorithm>
#include <utility>

namespace rkllm_mcp {

SessionStreams::SessionStreams(asio::io_context& loop, MemoryBudget memory)
    : loop_(loop),
      memory_(std::move(memory)),
      standing_(std::make_shared<EventStream>(
          loop, EventStream::Options{.id = "0", .headers = {}, .remote = {}, .memory = memory_})) {}

SessionStreams::~SessionStreams() {
  standing_->abandon();
  for (const auto& stream : std::exchange(streams_, {})) {
    stream->when_ended(nullptr);
    stream->abandon();
  }
}

EventStream& SessionStreams::add(EventStream::Options options) {
  options.id = std::to_string(next_++);
  options.memory = memory_;
  EventStream& stream = *streams_.emplace_back(std::make_shared<EventStream>(loop_, std::move(options)));
  stream.when_ended([this, &stream] { keep_ended(stream); });
  return stream;
}

EventStream* SessionStreams::find(std::string_view id) const {
  if (id == standing_->id()) return standing_.get();
  const auto found =
      std::find_if(streams_.begin(), streams_.end(), [id](const auto& each) { return each->id() == id; });
  return found == streams_.end() ? nullptr : found->get();
}

bool SessionStreams::is_any_attached() const {
  return standing_->is_attached() ||
         std::ranges::any_of(streams_, [](const auto& each) { return each->is_attached(); });
}

std::size_t SessionStreams::in_progress() const {
  return static_cast<std::size_t>(std::ranges::count_if(streams_, [](const auto& each) { return !each->ended(); }));
}

Clock::time_point SessionStreams::last_attached() const {
  auto last = standing_->last_attached();
  for (const auto& each : streams_) last = std::max(last, each->last_attached());
  return last;
}

void SessionStreams::keep_ended(const EventStream& stream) {
  const auto place = std::ranges::find_if(streams_, [&stream](const auto& each) { return each.get() == &stream; });
  if (place == streams_.end()) return;
  // There is nothing to come back for where one plain answer was all, or the stream was given up.
  if (!stream.has_events() || stream.closed()) {
    streams_.erase(place);
    return;
  }
  std::rotate(place, place + 1, streams_.end());  // behind those that have ended before it
  const auto has_ended = [](const auto& each) { return each->ended(); };
  const auto kept = std::ranges::count_if(streams_, has_ended);
  if (kept > static_cast<std::ptrdiff_t>(kEndedStreams)) streams_.erase(std::ranges::find_if(streams_, has_ended));
}

}  // namespace rkllm_mcp
