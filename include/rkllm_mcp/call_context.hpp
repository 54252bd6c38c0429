// Everything that one call of a generated stub may touch. Made by the backend for that call, on the thread that makes it.
#pragma once

#include <rkllm_mcp/array_encoding.hpp>
#include <rkllm_mcp/call_arena.hpp>
#include <rkllm_mcp/file_policy.hpp>
#include <rkllm_mcp/handle_record.hpp>
#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/result_sink.hpp>

#include <string_view>

namespace rkllm_mcp {

struct CallContext {
  const Json& params;              // an object keyed by the C parameter names; the handle may be among them
  HandleRecord* handle = nullptr;  // resolved by the backend; for a creating call the new, still empty record
  ResultSink* results = nullptr;   // for calls that stream; else null
  ArrayEncoding encoding = ArrayEncoding::kJson;
  CallArena arena;                 // owns what the C structs of this call point at
  std::string_view version = {};   // of the runtime, for complaints
  const FilePolicy* files = nullptr;  // that may be named; null: all
};

}  // namespace rkllm_mcp
