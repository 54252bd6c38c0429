// A JSON-RPC 2.0 message as it came in: text -> Request, Notification, Response, or what is wrong with it.
//
// Parsing is strict where leniency would be a guess (duplicate members, odd ids) and bounded (depth, id
// length). Pure functions, any thread.
#pragma once

#include "counts.hpp"
#include "immutable.hpp"
#include "memory_budget.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rkllm_mcp {

// The id of a request as JSON text, exactly as the client wrote it: 7, -0, 1e2, "seven", "\u00e9",
// 12345678901234567890123.
using RequestId = std::string;

inline constexpr std::string_view kNullId = "null";

// The id as a value; null for an empty text, which stands for none.
inline Json id_value(const RequestId& id) { return id.empty() ? Json(nullptr) : Json::parse(id, nullptr, false); }

// 7 and "7" are different; "\u00e9" and "é" are the same.
bool is_same_id(const RequestId& one, const RequestId& other);

struct Request {
  RequestId id;
  std::string method;
  Json params;                                     // an object or array; null if absent
  std::optional<Immutable<MemoryShare>> memory{};  // what it takes; the call that comes of it has it, too
};

struct Notification {
  std::string method;
  Json params;
  std::optional<Immutable<MemoryShare>> memory{};  // what it takes
};

// A client's answer to a request of ours: without a method, but with a result or an error. It is never answered, not
// even if nobody has asked, as an error with the id null.
struct Response {
  RequestId id;  // kNullId if it names no request
  Json result;   // null if it is an error
  Json error;    // null if it is a result
};

// Not a message that can be executed. `id` is what the error must carry: the request's own if it could be read.
struct Malformed {
  RequestId id;
  RpcError error;
};

// Several messages at once; message_of() makes each of them. Whether the client may send batches is not known here.
struct Batch {
  std::vector<Json> messages;                      // at least one
  std::vector<std::string> written_ids;            // each message's id as JSON text; empty: it has none
  std::optional<Immutable<MemoryShare>> memory{};  // what all take together
};

using Message = std::variant<Request, Notification, Response, Malformed, Batch>;

// Whether a request may have the id null, which its answer then has as well. JSON-RPC advises against it and MCP
// forbids it; some clients of plain JSON-RPC send it all the same.
enum class NullIds { kRefused, kTaken };

struct MessageLimits {
  std::size_t max_depth{};     // of nested arrays and objects, the message itself included
  std::size_t max_id_bytes{};  // of the id's JSON text: every chunk of a stream repeats it
  Counts* counts = nullptr;
  NullIds null_ids = NullIds::kRefused;
};

// A message of more bytes is read beside the event loop, and its long parts stay unread (unread.hpp).
inline constexpr std::size_t kReadAtOnceBytes = 64 * 1024;

Message parse_message(std::string_view text, const MessageLimits& limits);
// The id of a message of which there is only the beginning; kNullId if it is not in there.
RequestId id_of_beginning(std::string_view text, const MessageLimits& limits);
// The message that one element of a batch is.
Message message_of(Json element, const std::string& written_id, const MessageLimits& limits);
// The error for a batch where batches are not allowed.
Malformed refused_batch();
// The error for a connection that does not begin with a message.
Malformed other_protocol();

// The ids in a message's text as they are written there. A JSON value does not tell: -0 is read as 0, 1e2 as 100.0,
// "\u00e9" as "é", and long numbers lose digits; but an answer has to carry its request's id byte for byte.
//
// Text of the member "id" of an object; of an array, of each element in turn. Empty where there is none. `json` should
// be valid JSON in which no member occurs twice. In other text anything may be taken for an id, but never the last
// thing in it, which may have been cut off.
std::vector<std::string> written_ids(std::string_view json);

}  // namespace rkllm_mcp
