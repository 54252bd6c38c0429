// Everything that one call of a generated stub may touch. Made by the backend for that call, on the thread that makes
// it.
#pragma once

#include <rkllm_mcp/array_encoding.hpp>
#include <rkllm_mcp/file_policy.hpp>
#include <rkllm_mcp/handle_record.hpp>
#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/result_sink.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp {

// Owns everything that the C structs of one call point at: strings, arrays, nested structs. Addresses stay valid until
// the arena dies, which is after the call (for a run: after the run) has ended.
class CallArena {
 public:
  CallArena() = default;
  CallArena(const CallArena&) = delete;
  CallArena& operator=(const CallArena&) = delete;

  // A value of type T that lives as long as the arena.
  template <class T>
  T& keep(T value) {
    auto owned = std::make_shared<T>(std::move(value));
    T& kept = *owned;
    owned_.push_back(std::move(owned));
    return kept;
  }

  // A NUL-terminated, writable copy of `text`.
  char* text(std::string_view text) { return keep(std::string(text)).data(); }

  // `count` value-initialised elements, contiguous.
  template <class T>
  T* array(std::size_t count) {
    T* const first = new T[count]();
    std::shared_ptr<void> owned(first, std::default_delete<T[]>());
    owned_.push_back(std::move(owned));
    return first;
  }

 private:
  std::vector<std::shared_ptr<void>> owned_;
};

struct CallContext {
  const Json& params;              // an object keyed by the C parameter names; the handle may be among them
  HandleRecord* handle = nullptr;  // resolved by the backend; for a creating call the new, still empty record
  ResultSink* results = nullptr;   // for calls that stream; else null
  ArrayEncoding encoding = ArrayEncoding::kJson;
  CallArena arena;                    // owns what the C structs of this call point at
  std::string_view version = {};      // of the runtime, for complaints
  const FilePolicy* files = nullptr;  // says which files may be named; null: all
};

}  // namespace rkllm_mcp
