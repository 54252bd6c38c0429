// How long the queues of a backend are as the program has them when nobody has changed a setting: see usual_limits.hpp.
#pragma once

#include "backend/queued_backend.hpp"
#include "settings_defaults.h"
#include "support/usual_limits.hpp"

namespace rkllm_mcp::test {

template <>
inline QueuedBackend::Limits usual_limits<QueuedBackend::Limits>() {
  return {.handles = defaults::kLimitsMaxHandles, .queued_per_handle = defaults::kQueueMaxPerHandle};
}

}  // namespace rkllm_mcp::test
