// What is known about one handle (an initialised model): its wire id, the library's pointer, and the values that later
// calls need but C does not repeat, such as n_batch.
//
// Threads: written by the thread that makes the handle's calls in their turn, and only before the handle can be called
// otherwise, after a run, or while no other call is being made. Calls beside a run (rkllm_abort, rkllm_is_running) and
// the runtime's callbacks read `id` and `native` on other threads; `values` is for calls in their turn only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp {

struct HandleRecord {
  std::string id;                                           // on the wire, e.g. "llm-1"
  void* native = nullptr;                                   // the library's; null before creation and after destruction
  std::map<std::string, std::int64_t, std::less<>> values;  // named by the overlay, e.g. "n_batch"

  std::optional<std::int64_t> value(std::string_view name) const {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  }
};

}  // namespace rkllm_mcp
