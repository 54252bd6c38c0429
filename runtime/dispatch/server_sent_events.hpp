// Server-Sent Events as text. Event loop or any other thread: pure functions.
#pragma once

#include "transport/http/http_message.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// An event whose data is one line. Without `id`, no id.
inline std::string event_of(std::string_view data, std::string_view id = {}, std::string_view name = "message") {
  std::string event;
  if (!id.empty()) event.append("id: ").append(id).append("\n");
  if (!data.empty()) event.append("event: ").append(name).append("\n");
  return event.append("data: ").append(data).append("\n\n");
}

// How long the client is to wait until it connects again.
inline std::string retry_after(std::chrono::milliseconds pause) {
  return "retry: " + std::to_string(pause.count()) + "\n\n";
}

// Says nothing, and keeps a connection from looking dead to whoever is in between.
inline constexpr std::string_view kEventComment = ":\n\n";
inline constexpr std::chrono::seconds kBetweenEventComments{15};

inline http::Headers event_stream_headers(http::Headers others) {
  others.add("Content-Type", "text/event-stream");
  others.add("Cache-Control", "no-store");
  others.add("X-Accel-Buffering", "no");
  return others;
}

inline bool accepts_events(const http::Headers& headers) {
  for (const auto& [name, value] : headers) {
    if (http::equal_ignoring_case(name, "Accept") && value.find("text/event-stream") != std::string::npos) return true;
  }
  return false;
}

}  // namespace rkllm_mcp
