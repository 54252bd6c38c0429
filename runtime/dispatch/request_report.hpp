// What is reported of a request that was answered without becoming a call: lists, polls, refusals. Calls are reported
// when they end, see WatchedBackend.
#pragma once

#include "backend.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace rkllm_mcp {

struct RequestNote {
  RequestSource source;
  std::string method;              // empty: the message could not be read
  std::optional<ErrorCode> error;  // nothing: it was answered with a result
  std::chrono::microseconds time{0};
};

using RequestReport = std::function<void(const RequestNote&)>;

}  // namespace rkllm_mcp
