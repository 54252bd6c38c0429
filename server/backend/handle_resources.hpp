// What clients may read of the initialised models, rkllm://handles and rkllm://handles/{id}, and what these go by.
#pragma once

#include "backend/queued_backend.hpp"
#include "mcp/catalogue.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

// What a handle is and what it does, in short and in full.
Json brief_of(const QueuedBackend::HandleStatus& handle);
Json description_of(const QueuedBackend::HandleStatus& handle);

// How fast the latest run was, by the runtime's own measurement; absent where it has not said.
struct RunSpeed {
  std::optional<double> tokens_per_second{};
  std::optional<double> prefill_tokens_per_second{};
};
RunSpeed speed_of(const Json& last_perf);

// The path of a handle's model; empty if it was created without one.
std::string model_path_of(const QueuedBackend::HandleStatus& handle);
// The model's name: the one that it was loaded by, else its file's without ending.
std::string model_name_of(const QueuedBackend::HandleStatus& handle);

// The name of a handle among the names of models: the name that its model was loaded by. If rkllm_init has made the
// handle: the name of the model's file without ending; but the handle's id, if that name is empty, belongs to a model
// (`is_taken`) or to an earlier handle of `all`, or is the id of a handle of `all`. Any thread.
std::string name_of_handle(const QueuedBackend::HandleStatus& handle,
                           const std::vector<QueuedBackend::HandleStatus>& all,
                           const std::function<bool(const std::string& name)>& is_taken);

// A loaded model for people: {"name","path","handle","running","queued","process","tokens_per_second"}; what is not
// known is null.
Json model_of(const QueuedBackend::HandleStatus& handle);

using HandlesFunction = std::function<std::vector<QueuedBackend::HandleStatus>()>;

inline constexpr std::string_view kHandlesUri = "rkllm://handles";  // of all; of one: kHandlesUri/{id}

void add_handle_resources(mcp::Catalogue& catalogue, const HandlesFunction& handles);
// Completes a handle's id.
mcp::CompleteFunction complete_handle(HandlesFunction handles);

}  // namespace rkllm_mcp
