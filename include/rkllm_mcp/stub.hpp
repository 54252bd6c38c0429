// What generated method stubs are made of: the steps around the call of the C function.
#pragma once

#include <rkllm_mcp/call_context.hpp>
#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/handle_record.hpp>
#include <rkllm_mcp/json.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {

// The reply of a function whose contract is "0 is success": {"status":0}. Throws CallFailed for any other status.
inline Json reply_to_status(std::string_view function, int status) {
  if (status != 0) throw CallFailed(function, status);
  return Json{{"status", status}};
}

// The reply of a function that answers yes or no: {"<name>":bool,"status":n}. Throws CallFailed for any third value.
inline Json reply_to_predicate(std::string_view function, int status, std::string_view name, int yes, int no) {
  if (status != yes && status != no) throw CallFailed(function, status);
  return Json{{std::string(name), status == yes}, {"status", status}};
}

// Room for an array that the function fills in, one element for each of what `count` says.
template <class T>
std::span<T> out_array(CallContext& call, std::string_view function, const HandleValue& count) {
  const auto size = static_cast<std::size_t>(require_known(count, call.handle, function));
  return {call.arena.array<T>(size), size};
}

// Takes over the handle that a creating function has made, and adds its id to the reply. Throws CallFailed for NULL or
// 0, which a runtime may leave there although it reported success.
template <class Handle>
void adopt_handle(CallContext& call, std::string_view function, Handle handle, std::string_view name, Json& reply) {
  if constexpr (std::integral<Handle>) {
    if (!std::in_range<std::uintptr_t>(handle)) {
      const std::string why = std::cmp_less(handle, 0) ? ", which is no handle" : ", which is larger than a pointer";
      throw CallFailed(function, std::nullopt, std::string(function) + " gave " + std::to_string(handle) + why);
    }
    // A number is kept as a pointer is. NOLINTNEXTLINE(performance-no-int-to-ptr)
    call.handle->native = reinterpret_cast<void*>(static_cast<std::uintptr_t>(handle));
  } else {
    call.handle->native = handle;
  }
  if (call.handle->native == nullptr) {
    throw CallFailed(function, std::nullopt, std::string(function) + " reported success but gave no handle");
  }
  reply[std::string(name)] = call.handle->id;
}

// Waits for the end of a run that goes on after its function has returned.
inline void await_end(const CallContext& call, std::string_view function, const std::function<bool()>& still_running) {
  if (call.results == nullptr || call.results->await_end(still_running)) return;
  throw CallFailed(function, std::nullopt,
                   std::string(function) + " ended without calling back; the runtime's log says why");
}

}  // namespace rkllm_mcp
