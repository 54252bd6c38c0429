#include "chat/dialects/anthropic/anthropic_reply.hpp"

#include "jsonrpc/bounded_json.hpp"
#include "jsonrpc/unread.hpp"
#include "text/json_text.hpp"

#include <utility>

namespace rkllm_mcp::chat {
namespace {

// Clients send it back with the thinking; nobody here checks it.
constexpr std::string_view kSignature = "unsigned";
constexpr int kOverloaded = 529;

std::string_view anthropic_reason(Finish finish) {
  switch (finish) {
    case Finish::kStop: return "end_turn";
    case Finish::kStopString: return "stop_sequence";
    case Finish::kLength: return "max_tokens";
    case Finish::kToolCalls: return "tool_use";
    case Finish::kContentFilter: return "refusal";
  }
  return "end_turn";
}

std::string_view anthropic_error_type(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUnknownModel:
    case ErrorKind::kNotKept: return "not_found_error";
    case ErrorKind::kContext:
    case ErrorKind::kBadField:
    case ErrorKind::kNotSupported:
    case ErrorKind::kInvalidAnswer: return "invalid_request_error";
    case ErrorKind::kTooLarge: return "request_too_large";
    case ErrorKind::kQueueFull:
    case ErrorKind::kNoRoom: return "overloaded_error";
    case ErrorKind::kUnauthorized: return "authentication_error";
    case ErrorKind::kForbidden: return "permission_error";
    case ErrorKind::kUpstream:
    case ErrorKind::kRuntimeFailed:
    case ErrorKind::kInternal: return "api_error";
  }
  return "api_error";
}

// Here the cached tokens do not count as input: the three together are the prompt.
Json anthropic_usage(const Usage& usage) {
  Json input = number_or_null(usage.prompt);
  if (usage.prompt && usage.cached) input = *usage.prompt - *usage.cached;
  return {{"input_tokens", std::move(input)},
          {"cache_creation_input_tokens", 0},
          {"cache_read_input_tokens", number_or_null(usage.cached)},
          {"output_tokens", number_or_null(usage.generated)}};
}

Json anthropic_message(const ReplyFacts& facts) {
  return {{"id", facts.id},           {"type", "message"},      {"role", "assistant"},     {"model", facts.model},
          {"content", Json::array()}, {"stop_reason", nullptr}, {"stop_sequence", nullptr}};
}

void add_stop(Json& target, const AnswerEnd& end) {
  target["stop_reason"] = anthropic_reason(end.finish);
  target["stop_sequence"] = end.finish == Finish::kStopString ? Json(end.stop_string) : Json(nullptr);
}

}  // namespace

Json anthropic_error(const TurnError& error, std::string_view request_id) {
  Json body = {{"type", anthropic_error_type(error.kind())}, {"message", error.what()}};
  if (error.kind() == ErrorKind::kNotSupported && error.field() == "thread") {
    // At this the SDKs' tool runners send the whole conversation instead, from then on.
    body["details"] = {{"error_code", "thread_unsupported_request"}, {"unsupported", {"thread"}}};
  }
  return {{"type", "error"}, {"error", std::move(body)}, {"request_id", request_id}};
}

ErrorReply anthropic_error_reply(const TurnError& error, std::string_view request_id) {
  const bool is_overload = error.kind() == ErrorKind::kQueueFull || error.kind() == ErrorKind::kNoRoom;
  return {is_overload ? kOverloaded : http_status(error.kind()), to_text(anthropic_error(error, request_id)),
          retry_after(error)};
}

std::string anthropic_reply(const ReplyFacts& facts, const Answer& answer) {
  Json message = anthropic_message(facts);
  Json& content = message["content"];
  if (!answer.thinking.empty()) {
    content.push_back({{"type", "thinking"}, {"thinking", answer.thinking}, {"signature", kSignature}});
  }
  if (!answer.text.empty()) content.push_back({{"type", "text"}, {"text", answer.text}});
  for (const ToolCall& call : answer.calls) {
    content.push_back({{"type", "tool_use"},
                       {"id", call.id},
                       {"name", call.name},
                       {"input", parse_bounded(call.arguments).value_or(Json::object())}});
  }
  add_stop(message, answer.end);
  message["usage"] = anthropic_usage(answer.end.usage);
  return to_text(message);
}

std::string anthropic_count_reply(std::int64_t tokens, CountKind kind) {
  Json reply = {{"input_tokens", tokens}};
  if (kind == CountKind::kEstimate) reply["estimate"] = true;
  return to_text(reply);
}

AnthropicStream::AnthropicStream(ReplyFacts facts) : facts_(std::move(facts)) {}

void AnthropicStream::begun(const TurnBeginning& beginning) {
  ReplyStream::begun(beginning);
  known_ = beginning.usage;
}

std::string AnthropicStream::start_once() {
  if (std::exchange(has_started_, true)) return "";
  Json message = anthropic_message(facts_);
  Usage usage = known_;
  usage.prompt = usage.prompt.value_or(0);
  usage.generated = 0;
  message["usage"] = anthropic_usage(usage);
  return sse_event("message_start", to_text(Json{{"type", "message_start"}, {"message", std::move(message)}}));
}

std::string AnthropicStream::block_start(const Json& block) const {
  return sse_event("content_block_start",
                   to_text(Json{{"type", "content_block_start"}, {"index", index_}, {"content_block", block}}));
}

std::string AnthropicStream::block_delta(std::string_view type, std::string_view member, std::string_view text) const {
  std::string data = R"({"type":"content_block_delta","index":)" + std::to_string(index_);
  data.append(R"(,"delta":{"type":")").append(type).append(R"(",")").append(member).append(R"(":)");
  append_quoted(data, text);
  return sse_event("content_block_delta", data + "}}");
}

std::string AnthropicStream::change_to(Block block) {
  if (block_ == block) return "";
  std::string text;
  if (block_ != Block::kNone) {
    if (block_ == Block::kThinking) text += block_delta("signature_delta", "signature", kSignature);
    text += sse_event("content_block_stop", to_text(Json{{"type", "content_block_stop"}, {"index", index_}}));
    ++index_;
  }
  block_ = block;
  if (block == Block::kText) text += block_start({{"type", "text"}, {"text", ""}});
  if (block == Block::kThinking) text += block_start({{"type", "thinking"}, {"thinking", ""}, {"signature", ""}});
  return text;
}

std::string AnthropicStream::event(const AnswerEvent& event, std::size_t /*answer*/) {
  std::string text = start_once();
  if (const auto* said = std::get_if<TextDelta>(&event)) {
    text += change_to(Block::kText);
    return text += block_delta("text_delta", "text", said->text);
  }
  if (const auto* thought = std::get_if<ThinkingDelta>(&event)) {
    text += change_to(Block::kThinking);
    return text += block_delta("thinking_delta", "thinking", thought->text);
  }
  const ToolCall& call = std::get<ToolCall>(event);
  text += change_to(Block::kNone);
  text += block_start({{"type", "tool_use"}, {"id", call.id}, {"name", call.name}, {"input", Json::object()}});
  text += block_delta("input_json_delta", "partial_json", call.arguments);
  text += sse_event("content_block_stop", to_text(Json{{"type", "content_block_stop"}, {"index", index_}}));
  ++index_;
  return text;
}

std::string AnthropicStream::heartbeat() { return start_once() + sse_event("ping", R"({"type":"ping"})"); }

std::string AnthropicStream::end(const AnswerEnd& end, std::size_t /*answer*/) {
  std::string text = start_once();
  text += change_to(Block::kNone);
  Json delta = Json::object();
  add_stop(delta, end);
  Json data = {{"type", "message_delta"}, {"delta", std::move(delta)}, {"usage", anthropic_usage(end.usage)}};
  if (!notices().is_null()) data["rkllm"] = notices();
  return text += sse_event("message_delta", to_text(data));
}

std::string AnthropicStream::finish(const Usage& /*sum*/) {
  return sse_event("message_stop", R"({"type":"message_stop"})");
}

std::string AnthropicStream::error(const TurnError& error) {
  return sse_event("error", to_text(anthropic_error(error, facts_.request_id)));
}

}  // namespace rkllm_mcp::chat
