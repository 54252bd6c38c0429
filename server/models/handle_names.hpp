// What handles go by where models are named.
//
// Threads: any.
#pragma once

#include "backend/queued_backend.hpp"

#include <functional>
#include <string>
#include <vector>

namespace rkllm_mcp {

// The name that the model was loaded by. One that rkllm_init has made goes by its file's name, without its ending,
// where nothing else does (`is_taken`: a model of that name, and no earlier one of `all`), else by its own value.
std::string name_of_handle(const QueuedBackend::HandleStatus& handle,
                           const std::vector<QueuedBackend::HandleStatus>& all,
                           const std::function<bool(const std::string& name)>& is_taken);

}  // namespace rkllm_mcp
