#include "chat/dialects/openai/openai_chat_reply.hpp"

#include "chat/turn/model_text.hpp"
#include "jsonrpc/unread.hpp"
#include "text/json_text.hpp"

#include <optional>

namespace rkllm_mcp::chat {
namespace {

// llama.cpp's figures of one answer; null for what is not known.
Json openai_timings(const AnswerEnd& end) {
  const Usage& usage = end.usage;
  const Speed speed = speed_of(end);
  std::optional<std::int64_t> computed;
  if (usage.prompt && usage.cached) computed = *usage.prompt - *usage.cached;
  const auto ms_each = [](const std::optional<double>& per_second) {
    constexpr double kMsOfSecond = 1000;
    return per_second && *per_second > 0 ? Json(kMsOfSecond / *per_second) : Json(nullptr);
  };
  return {{"cache_n", number_or_null(usage.cached)},
          {"prompt_n", number_or_null(computed)},
          {"prompt_ms", or_null(end.timings.prefill_ms)},
          {"prompt_per_token_ms", ms_each(speed.prefill_tokens_per_second)},
          {"prompt_per_second", or_null(speed.prefill_tokens_per_second)},
          {"predicted_n", number_or_null(usage.generated)},
          {"predicted_ms", or_null(end.timings.generate_ms)},
          {"predicted_per_token_ms", ms_each(speed.tokens_per_second)},
          {"predicted_per_second", or_null(speed.tokens_per_second)}};
}

Json openai_call(const ToolCall& call) {
  return {{"id", call.id}, {"type", "function"}, {"function", {{"name", call.name}, {"arguments", call.arguments}}}};
}

Json fingerprint_or_null(const ReplyFacts& facts) {
  return facts.fingerprint.empty() ? Json(nullptr) : Json(facts.fingerprint);
}

Json openai_message(const Answer& answer) {
  Json message = {{"role", "assistant"}, {"content", answer.text}, {"refusal", nullptr}};
  if (answer.text.empty() && !answer.calls.empty()) message["content"] = nullptr;
  if (!answer.thinking.empty()) {
    message["reasoning_content"] = answer.thinking;
    message["reasoning"] = answer.thinking;
  }
  for (const ToolCall& call : answer.calls) message["tool_calls"].push_back(openai_call(call));
  return message;
}

struct OpenAiErrorWords {
  std::string_view type;
  std::string_view code;
};

OpenAiErrorWords openai_error_words(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUnknownModel: return {"invalid_request_error", "model_not_found"};
    case ErrorKind::kNotKept: return {"invalid_request_error", "not_found"};
    case ErrorKind::kContext: return {"invalid_request_error", "context_length_exceeded"};
    case ErrorKind::kBadField: return {"invalid_request_error", "invalid_value"};
    case ErrorKind::kTooLarge: return {"invalid_request_error", "request_too_large"};
    case ErrorKind::kNotSupported: return {"invalid_request_error", "unsupported_value"};
    case ErrorKind::kQueueFull: return {"server_error", "queue_full"};
    case ErrorKind::kNoRoom: return {"server_error", "no_room_to_load"};
    case ErrorKind::kUnauthorized: return {"authentication_error", "invalid_api_key"};
    case ErrorKind::kForbidden: return {"permission_error", "permission_denied"};
    case ErrorKind::kUpstream: return {"server_error", "upstream_failed"};
    case ErrorKind::kInvalidAnswer: return {"server_error", "invalid_structured_output"};
    case ErrorKind::kRuntimeFailed: return {"server_error", "runtime_failed"};
    case ErrorKind::kInternal: return {"server_error", "internal_error"};
  }
  return {"server_error", "internal_error"};
}

}  // namespace

std::string_view openai_finish(Finish finish) {
  switch (finish) {
    case Finish::kStop:
    case Finish::kStopString: return "stop";
    case Finish::kLength: return "length";
    case Finish::kToolCalls: return "tool_calls";
    case Finish::kContentFilter: return "content_filter";
  }
  return "stop";
}

Json openai_usage(const Usage& usage) {
  if (!usage.prompt || !usage.generated) return nullptr;
  return {{"prompt_tokens", *usage.prompt},
          {"completion_tokens", *usage.generated},
          {"total_tokens", *usage.prompt + *usage.generated},
          {"prompt_tokens_details", {{"cached_tokens", number_or_null(usage.cached)}}},
          {"completion_tokens_details", {{"reasoning_tokens", number_or_null(usage.reasoning)}}}};
}

Json openai_error(const TurnError& error) {
  const OpenAiErrorWords words = openai_error_words(error.kind());
  Json body = {{"message", error.what()},
               {"type", words.type},
               {"param", error.field().empty() ? Json(nullptr) : Json(error.field())},
               {"code", words.code}};
  if (error.kind() == ErrorKind::kContext) {
    body["n_prompt_tokens"] = number_or_null(error.prompt_tokens());
    body["n_ctx"] = number_or_null(error.context_tokens());
  }
  return {{"error", std::move(body)}};
}

ErrorReply openai_error_reply(const TurnError& error) {
  return {http_status(error.kind()), to_text(openai_error(error)), retry_after(error)};
}

std::string openai_chat_reply(const ReplyFacts& facts, const std::vector<Answer>& answers, const Usage& sum) {
  Json choices = Json::array();
  for (const Answer& answer : answers) {
    choices.push_back({{"index", choices.size()},
                       {"message", openai_message(answer)},
                       {"logprobs", nullptr},
                       {"finish_reason", openai_finish(answer.end.finish)}});
  }
  Json reply = {{"id", facts.id},
                {"object", "chat.completion"},
                {"created", facts.created_s},
                {"model", facts.model},
                {"choices", std::move(choices)},
                {"usage", openai_usage(sum)},
                {"system_fingerprint", fingerprint_or_null(facts)}};
  if (!answers.empty()) reply["timings"] = openai_timings(answers.back().end);
  return to_text(reply);
}

OpenAiChatStream::OpenAiChatStream(const ReplyFacts& facts, const StreamFigures& figures)
    : facts_(facts), has_timings_(figures.timings_per_token) {
  write_head();
  tail_ = figures.usage_at_end ? R"(],"usage":null})" : "]}";
}

void OpenAiChatStream::write_head() {
  const Json head = {{"id", facts_.id},
                     {"object", "chat.completion.chunk"},
                     {"created", facts_.created_s},
                     {"model", facts_.model},
                     {"system_fingerprint", fingerprint_or_null(facts_)}};
  head_ = to_text(head);
  head_.back() = ',';
  head_ += R"("choices":[)";
}

void OpenAiChatStream::begun(const TurnBeginning& beginning) {
  ReplyStream::begun(beginning);
  facts_.fingerprint = beginning.conversation;
  write_head();
}

std::string OpenAiChatStream::chunk(std::size_t answer, std::string_view delta, std::string_view finish,
                                    std::string_view more) const {
  std::string text = "data: " + head_;
  text.append(R"({"index":)").append(std::to_string(answer)).append(R"(,"delta":)").append(delta);
  text.append(R"(,"logprobs":null,"finish_reason":)").append(finish).append("}");
  if (more.empty()) return text.append(tail_).append("\n\n");
  text.append(tail_, 0, tail_.size() - 1);
  return text.append(more).append("}\n\n");
}

std::string OpenAiChatStream::role_once(std::size_t answer) {
  if (!begun_.insert(answer).second) return "";
  if (calls_.size() <= answer) calls_.resize(answer + 1);
  return chunk(answer, R"({"role":"assistant","content":"","refusal":null})");
}

void OpenAiChatStream::progress(const AnswerProgress& progress) {
  if (!has_timings_) return;
  const Speed speed = speed_of({.timings = {.generate_ms = progress.ms, .timed_tokens = progress.timed}});
  timings_ = R"(,"timings":)" + to_text(Json{{"predicted_n", progress.generated},
                                             {"predicted_ms", progress.ms},
                                             {"predicted_per_second", or_null(speed.tokens_per_second)}});
}

std::string OpenAiChatStream::event(const AnswerEvent& event, std::size_t answer) {
  std::string text = role_once(answer);
  std::string delta;
  if (const auto* said = std::get_if<TextDelta>(&event)) {
    delta = R"({"content":)";
    append_quoted(delta, said->text);
    return text += chunk(answer, delta + "}", "null", timings_);
  }
  if (const auto* thought = std::get_if<ThinkingDelta>(&event)) {
    delta = R"({"reasoning_content":)";
    append_quoted(delta, thought->text);
    delta += R"(,"reasoning":)";
    append_quoted(delta, thought->text);
    return text += chunk(answer, delta + "}", "null", timings_);
  }
  const ToolCall& call = std::get<ToolCall>(event);
  const std::size_t index = calls_[answer]++;
  ToolCall without_arguments = call;
  without_arguments.arguments.clear();
  Json first = openai_call(without_arguments);
  first["index"] = index;
  text += chunk(answer, to_text(Json{{"tool_calls", Json::array({std::move(first)})}}));
  const Json rest = {{"index", index}, {"function", {{"arguments", call.arguments}}}};
  return text += chunk(answer, to_text(Json{{"tool_calls", Json::array({rest})}}));
}

std::string OpenAiChatStream::heartbeat() {
  const std::size_t answer = begun_.empty() ? 0 : *begun_.rbegin();
  const std::string role = role_once(answer);
  return role.empty() ? chunk(answer, "{}") : role;
}

std::string OpenAiChatStream::end(const AnswerEnd& end, std::size_t answer) {
  const std::string finish = '"' + std::string(openai_finish(end.finish)) + '"';
  return role_once(answer) +
         chunk(answer, "{}", finish, R"(,"timings":)" + to_text(openai_timings(end)) + notices_member());
}

std::string OpenAiChatStream::finish(const Usage& sum) {
  std::string text;
  constexpr std::string_view kUsageFollows = R"(],"usage":null})";
  if (tail_ == kUsageFollows) text = "data: " + head_ + R"(],"usage":)" + to_text(openai_usage(sum)) + "}\n\n";
  return text += "data: [DONE]\n\n";
}

std::string OpenAiChatStream::error(const TurnError& error) { return sse_data(to_text(openai_error(error))); }

}  // namespace rkllm_mcp::chat
