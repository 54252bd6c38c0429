// What clients may read of the initialised models: rkllm://handles and rkllm://handles/{id}.
#pragma once

#include "api.hpp"
#include "backend/queued_backend.hpp"

#include <functional>
#include <vector>

namespace rkllm_mcp {

// Who it is and what it does, in short and in full.
Json brief_of(const QueuedBackend::HandleStatus& handle);
Json description_of(const QueuedBackend::HandleStatus& handle);

using HandlesFunction = std::function<std::vector<QueuedBackend::HandleStatus>()>;

void add_handle_resources(Api& api, HandlesFunction handles);

}  // namespace rkllm_mcp
