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

// Who it is and what it does, in short and in full.
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

// What a handle goes by where models are named, on any thread: the name that it was loaded by. If rkllm_init has made
// it, its file's name without ending, unless a model (`is_taken`), the value of another handle or an earlier one of
// `all` has that name; else its own value.
std::string name_of_handle(const QueuedBackend::HandleStatus& handle,
                           const std::vector<QueuedBackend::HandleStatus>& all,
                           const std::function<bool(const std::string& name)>& is_taken);

// A loaded model for people: {"name","path","handle","running","queued","process","tokens_per_second"}; null what is
// not known.
Json model_of(const QueuedBackend::HandleStatus& handle);

using HandlesFunction = std::function<std::vector<QueuedBackend::HandleStatus>()>;

inline constexpr std::string_view kHandlesUri = "rkllm://handles";  // of all; of one: kHandlesUri/{id}

void add_handle_resources(mcp::Catalogue& catalogue, const HandlesFunction& handles);
// Completes a handle's id.
mcp::CompleteFunction complete_handle(HandlesFunction handles);

}  // namespace rkllm_mcp
