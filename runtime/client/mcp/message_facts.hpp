// What a connection needs to know of a message: which requests it makes or answers, and what HTTP headers repeat;
// how requests are answered, and which revisions of MCP a client speaks.
#pragma once

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace rkllm_mcp::client {

inline constexpr const char* kModernRevision = "2026-07-28";
inline constexpr std::array<std::string_view, 5> kLegacyRevisions{"2025-11-25", "2025-06-18", "2025-03-26",
                                                                  "2024-11-05", "2024-10-07"};  // newest first

inline bool is_legacy_revision(std::string_view text) {
  return std::ranges::find(kLegacyRevisions, text) != kLegacyRevisions.end();
}

struct MessageFacts {
  std::vector<Json> requests{};  // ids; a batch (revision 2025-03-26) may have several
  std::vector<Json> answers{};   // ids of the requests that it answers
  std::string method{};          // of a request or notification, not of a batch
  std::string revision{};        // that its _meta claims: it belongs to the era without a handshake; else empty
  std::string name{};            // of the tool, prompt, resource or task that it is about
  Json cancels = nullptr;        // the id of the request that this notification cancels; null: none

  bool is_modern() const { return !revision.empty(); }
};

// Never fails: for a text that is no message it returns facts that are all empty.
MessageFacts facts_of(std::string_view message);

// A JSON-RPC error in the server's stead, for a request that gets no other answer: code -32603. One line.
std::string error_in_place(const Json& id, std::string_view complaint, const Json& data);

// `message` without its line ends, which JSON has between tokens only.
std::string on_one_line(std::string message);

// Error codes of JSON-RPC; the first is also what this side says in the server's stead.
inline constexpr int kInternalError = static_cast<int>(ErrorCode::kInternalError);
inline constexpr int kMethodNotFound = static_cast<int>(ErrorCode::kMethodNotFound);

// The error with which a server answers a request, as it came.
struct RemoteError {
  int code;
  std::string message;
  Json data = nullptr;   // null: none
  bool is_lost = false;  // the server has not said this: the connection was lost before it answered
};

// The result of a request, or the error.
using Outcome = std::variant<Json, RemoteError>;

// What a blocking call throws for such an error.
class RemoteRefusal : public std::runtime_error {
 public:
  explicit RemoteRefusal(RemoteError error)
      : std::runtime_error(error.message + " (" + std::to_string(error.code) + ")"), error_(std::move(error)) {}
  const RemoteError& error() const noexcept { return error_; }

 private:
  RemoteError error_;
};

}  // namespace rkllm_mcp::client
