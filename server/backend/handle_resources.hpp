// What clients may read of the initialised models: rkllm://handles and rkllm://handles/{id}.
#pragma once

#include "backend/queued_backend.hpp"
#include "mcp/catalogue.hpp"

#include <functional>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

// Who it is and what it does, in short and in full.
Json brief_of(const QueuedBackend::HandleStatus& handle);
Json description_of(const QueuedBackend::HandleStatus& handle);

using HandlesFunction = std::function<std::vector<QueuedBackend::HandleStatus>()>;

inline constexpr std::string_view kHandlesUri = "rkllm://handles";  // of all; of one: kHandlesUri/{id}

void add_handle_resources(Catalogue& catalogue, HandlesFunction handles);
// Completes a handle's id.
CompleteFunction complete_handle(HandlesFunction handles);

}  // namespace rkllm_mcp
