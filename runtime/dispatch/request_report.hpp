// What is told of a request that was answered without becoming a call: lists, polls, refusals. Calls are told of by
// whoever makes them, see Backend.
#pragma once

#include "backend.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace rkllm_mcp {

struct RequestNote {
  CallOrigin origin;
  std::string method;               // empty: the message could not be read
  std::optional<ErrorCode> error;   // nothing: it was answered with a result
  std::chrono::microseconds time{0};
};

using RequestReport = std::function<void(const RequestNote&)>;

}  // namespace rkllm_mcp
