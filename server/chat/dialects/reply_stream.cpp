#include "chat/dialects/reply_stream.hpp"

#include "jsonrpc/unread.hpp"

namespace rkllm_mcp::chat {

Json ReplyStream::notices_of(const TurnBeginning& beginning) {
  Json notices;
  if (!beginning.ignored.empty()) notices["ignored"] = beginning.ignored;
  if (beginning.dropped_messages > 0) notices["dropped_messages"] = beginning.dropped_messages;
  if (beginning.search_failed) notices["search"] = "failed";
  return notices;
}

std::string ReplyStream::notices_member() const {
  return notices_.is_null() ? std::string() : R"(,"rkllm":)" + to_text(notices_);
}

std::string sse_data(std::string_view data) { return std::string("data: ").append(data).append("\n\n"); }

std::string sse_event(std::string_view name, std::string_view data) {
  return std::string("event: ").append(name).append("\n").append(sse_data(data));
}

Json number_or_null(std::optional<std::int64_t> number) { return number ? Json(*number) : Json(nullptr); }

int http_status(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUnknownModel:
    case ErrorKind::kNotKept: return 404;
    case ErrorKind::kContext:
    case ErrorKind::kBadField:
    case ErrorKind::kNotSupported: return 400;
    case ErrorKind::kTooLarge: return 413;
    case ErrorKind::kQueueFull:
    case ErrorKind::kNoRoom: return 503;
    case ErrorKind::kUnauthorized: return 401;
    case ErrorKind::kForbidden: return 403;
    case ErrorKind::kUpstream: return 502;
    case ErrorKind::kInvalidAnswer: return 422;  // 5xx would make clients try the same again
    case ErrorKind::kRuntimeFailed:
    case ErrorKind::kInternal: return 500;
  }
  return 500;
}

std::string retry_after(const TurnError& error) {
  return error.retry_after_s() ? std::to_string(*error.retry_after_s()) : "";
}

}  // namespace rkllm_mcp::chat
