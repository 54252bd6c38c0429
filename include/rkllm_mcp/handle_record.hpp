// What is known about one handle (an initialised model): its wire id, the library's pointer, and the values that later
// calls need but C does not repeat, such as n_batch.
//
// Threads: written only by the thread that makes the handle's queued calls, and only while the handle is created, after
// a run, or while no other call is made. Calls beside a run (rkllm_abort, rkllm_is_running) and the runtime's callbacks
// read `id` and `native` on other threads; `values` is for queued calls only.
#pragma once

#include <rkllm_mcp/errors.hpp>

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

// A value that calls on a handle need and C does not repeat, such as the length of arrays that rkllm_init fixed, or the
// size of the vocabulary, which a run has to reveal first.
struct HandleValue {
  std::string_view name;   // key of HandleRecord::values
  std::string_view learn;  // what makes it known, for the error of a call that comes too early
};

// The value. Throws CallFailed of `function`, without a status, if it is not known for this handle.
inline std::int64_t require_known(const HandleValue& value, const HandleRecord* handle, std::string_view function) {
  const auto known = handle != nullptr ? handle->value(value.name) : std::nullopt;
  if (known) return *known;
  throw CallFailed(function, std::nullopt,
                   std::string(function) + " was not called: " + std::string(value.name) + " is not known yet for " +
                       (handle != nullptr ? "handle " + handle->id : "this handle") + "; " + std::string(value.learn));
}

// Refuses a call that the runtime would ignore or not survive, unless `value` is `wanted` on this handle.
inline void require_value(const HandleValue& value, std::int64_t wanted, const HandleRecord* handle,
                          std::string_view function, std::string_view why) {
  if (require_known(value, handle, function) == wanted) return;
  throw CallFailed(function, std::nullopt, std::string(function) + " was not called: " + std::string(why));
}

}  // namespace rkllm_mcp
