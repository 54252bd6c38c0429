// What can go wrong with a request, as exceptions. as_rpc_error() of the runtime library turns them into wire errors.
//
// Three kinds exist: the caller's fault (InvalidParams), the runtime's refusal (CallFailed), and our own bug (any other
// exception but std::bad_alloc: -32603). RpcError is what they share; the factories below make the rest of the codes.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp {

// Codes on the wire. -32001 and -32002 are this server's; the other negative ones are JSON-RPC's and the Model Context
// Protocol's, see is_of_mcp(). 4001 to 4009 are this server's own, too, and always carry `data`.
enum class ErrorCode : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  // Of services, in the direct dialect:
  kResourceNotFound = -32001,
  kToolFailed = -32002,
  kHeaderMismatch = -32020,
  kMissingCapability = -32021,
  kUnsupportedRevision = -32022,
  kCallFailed = 4001,
  kUnknownHandle = 4002,
  kStreamNotFound = 4003,
  kQueueFull = 4004,
  kRuntimeUnavailable = 4005,
  kTooLarge = 4006,
  kUnauthorized = 4007,
  kUnsupported = 4008,
  kCancelled = 4009,
};

// Whether the code is one that the Model Context Protocol itself has defined: -32020 to -32099.
constexpr bool is_of_mcp(ErrorCode code) {
  constexpr int kLast = -32099;
  return code <= ErrorCode::kHeaderMismatch && static_cast<int>(code) >= kLast;
}

// The most that an error or a log line quotes of what a client has sent, in bytes.
inline constexpr std::size_t kQuotedBytes = 60;

// `text`, or its beginning and "..." if it is longer than `most` bytes, which are at least 3. Never ends
// inside a character.
inline std::string shortened(std::string_view text, std::size_t most = kQuotedBytes) {
  constexpr std::string_view kMore = "...";
  if (text.size() <= most) return std::string(text);
  std::size_t end = most - kMore.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)).append(kMore);
}

// The same for a path, of which the end says more: "..." and the end.
inline std::string shortened_path(std::string_view path) {
  constexpr std::string_view kMore = "...";
  if (path.size() <= kQuotedBytes) return std::string(path);
  std::size_t begin = path.size() - (kQuotedBytes - kMore.size());
  while (begin < path.size() && (static_cast<unsigned char>(path[begin]) & 0xC0U) == 0x80U) ++begin;
  return std::string(kMore).append(path.substr(begin));
}

// The text with U+0000 as JSON writes it: what() ends at the character itself, and paths hold what clients sent.
inline std::string without_nul(std::string text) {
  for (auto at = text.find('\0'); at != std::string::npos; at = text.find('\0', at)) text.replace(at, 1, "\\u0000");
  return text;
}

// An error that a client sees as {code, message, data}. `data` is null when there is none.
class RpcError : public std::runtime_error {
 public:
  RpcError(ErrorCode code, const std::string& message, Json data = nullptr)
      : std::runtime_error(without_nul(message)), code_(code), data_(std::move(data)) {}

  ErrorCode code() const noexcept { return code_; }
  const Json& data() const noexcept { return data_; }

 private:
  ErrorCode code_;
  Json data_;
};

// The caller's fault. The message starts with the JSON path of what is wrong: "params.param.top_k: expected integer".
class InvalidParams : public RpcError {
 public:
  InvalidParams(std::string_view path, std::string_view complaint)
      : RpcError(ErrorCode::kInvalidParams, std::string(path) + ": " + std::string(complaint),
                 Json{{"path", std::string(path)}}) {}
};

// The runtime's refusal: a call whose contract says 0 = success returned something else, or would not be made because
// the runtime is known to ignore or not survive it. `status` is absent when the runtime gave none.
class CallFailed : public RpcError {
 public:
  CallFailed(std::string_view function, std::optional<int> status, const std::string& message)
      : RpcError(ErrorCode::kCallFailed, message,
                 Json{{"function", std::string(function)}, {"status", status ? Json(*status) : Json(nullptr)}}) {}

  CallFailed(std::string_view function, int status)
      : CallFailed(function, status, std::string(function) + " returned " + std::to_string(status)) {}
};

// "llm-1, llm-2", for messages: the first few of many.
inline std::string named_in_message(const std::vector<std::string>& ids) {
  constexpr std::size_t kShown = 8;
  std::string text;
  for (std::size_t i = 0; i < ids.size() && i < kShown; ++i) text += (i == 0 ? "" : ", ") + ids[i];
  return ids.size() > kShown ? text + ", ..." : text;
}

inline RpcError unknown_handle(std::string_view id, const std::vector<std::string>& live) {
  const std::string others =
      live.empty() ? "; none does: load a model first" : "; there are: " + named_in_message(live);
  return {ErrorCode::kUnknownHandle, "no handle " + Json(shortened(id)).dump() + " exists" + others,
          Json{{"handles", live}}};
}

inline RpcError runtime_unavailable(const std::string& reason) {
  return {ErrorCode::kRuntimeUnavailable, "runtime unavailable: " + reason,
          Json{{"reason", reason}, {"signal", nullptr}}};
}

// What is asked for exists only in other versions of the runtime. `needs` says which: "1.3.0" and later, or "<= 1.2.3".
inline RpcError unsupported(const std::string& what, std::string_view needs, std::string_view have) {
  return {ErrorCode::kUnsupported, what + " needs runtime " + std::string(needs) + ", this is " + std::string(have),
          Json{{"needs", std::string(needs)}, {"have", std::string(have)}}};
}

inline RpcError too_large(const std::string& what, std::size_t bytes, std::size_t limit) {
  return {ErrorCode::kTooLarge, what, Json{{"bytes", bytes}, {"limit", limit}}};
}

inline RpcError unauthorized(const std::string& reason) {
  return {ErrorCode::kUnauthorized, "unauthorized: " + reason, Json{{"reason", reason}}};
}

// The request needs a client that can do more; `required` is the protocol's ClientCapabilities, e.g. {"sampling":{}}.
inline RpcError missing_capability(Json required) {
  return {ErrorCode::kMissingCapability, "the client has not declared that it can do what this takes",
          Json{{"requiredCapabilities", std::move(required)}}};
}

inline RpcError cancelled() {
  return {ErrorCode::kCancelled, "the call was cancelled before it began", Json{{"began", false}}};
}

}  // namespace rkllm_mcp
