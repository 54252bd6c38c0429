#include "chat/assistant/remote_answer.hpp"

#include "json_members.hpp"
#include "jsonrpc/bounded_json.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace rkllm_mcp::chat {
namespace {

std::optional<std::int64_t> number_in(const Json& object, const char* name) {
  if (!object.is_object()) return std::nullopt;
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

void add_text(const Json& object, const char* name, std::vector<AnswerEvent>& events) {
  if (const std::string text = text_in(object, name); !text.empty()) events.emplace_back(TextDelta{text});
}

std::string complaint_of(const Json& body) {
  if (!body.is_object() || !body.contains("error") || body["error"].is_null()) return {};
  const Json& error = body["error"];
  const std::string text = error.is_string() ? error.get<std::string>() : text_in(error, "message");
  return text.empty() ? "it does not say why" : text;
}

}  // namespace

std::string complaint_in(std::string_view body) {
  Json answer = parse_bounded(body).value_or(nullptr);
  // Gemini's errors are an array of one.
  if (answer.is_array() && answer.size() == 1) answer = Json(answer[0]);
  return complaint_of(answer);
}

std::vector<AnswerEvent> RemoteAnswer::feed(std::string_view bytes) {
  std::vector<AnswerEvent> events;
  unread_ += bytes;
  if (!is_stream_) return events;
  std::size_t begin = 0;
  for (std::size_t end = unread_.find('\n'); end != std::string::npos; end = unread_.find('\n', begin)) {
    take_line(std::string_view(unread_).substr(begin, end - begin), events);
    begin = end + 1;
  }
  unread_.erase(0, begin);
  return events;
}

std::vector<AnswerEvent> RemoteAnswer::finish() {
  std::vector<AnswerEvent> events;
  take_line(unread_, events);
  if (complaint_.empty() && !has_ended_) complaint_ = "the answer has no end";
  return events;
}

void RemoteAnswer::take_line(std::string_view line, std::vector<AnswerEvent>& events) {
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n' || line.back() == ' ')) line.remove_suffix(1);
  constexpr std::string_view kData = "data:";
  if (is_stream_ && kind_ == ProviderKind::kOpenAi) {
    if (!line.starts_with(kData)) return;  // an empty line, or what SSE has besides
    line.remove_prefix(kData.size());
    while (line.starts_with(' ')) line.remove_prefix(1);
    if (line == "[DONE]") {
      has_ended_ = true;
      return;
    }
  }
  if (line.empty() || !complaint_.empty()) return;
  try {
    const Json piece = parse_or_complain(line);
    if (piece.is_object()) return take(piece, events);
    complaint_ = "its answer is no JSON object";
  } catch (const std::invalid_argument& why) {
    complaint_ = std::string("its answer is no JSON: ") + why.what();
  }
}

void RemoteAnswer::take(const Json& piece, std::vector<AnswerEvent>& events) {
  complaint_ = complaint_of(piece);
  if (!complaint_.empty()) return;
  if (kind_ == ProviderKind::kOllama) return take_ollama(piece, events);
  take_openai(piece, events);
}

void RemoteAnswer::take_ollama(const Json& piece, std::vector<AnswerEvent>& events) {
  if (const std::string thought = text_in(piece, "thinking"); !thought.empty()) {
    events.emplace_back(ThinkingDelta{thought});
  }
  add_text(piece, "response", events);
  const auto done = piece.find("done");
  if (done == piece.end() || *done != true) return;
  has_ended_ = true;
  end_.finish = text_in(piece, "done_reason") == "length" ? Finish::kLength : Finish::kStop;
  end_.usage.prompt = number_in(piece, "prompt_eval_count");
  end_.usage.generated = number_in(piece, "eval_count");
}

void RemoteAnswer::take_openai(const Json& piece, std::vector<AnswerEvent>& events) {
  if (const auto usage = piece.find("usage"); usage != piece.end()) {
    if (const auto prompt = number_in(*usage, "prompt_tokens")) end_.usage.prompt = prompt;
    if (const auto generated = number_in(*usage, "completion_tokens")) end_.usage.generated = generated;
  }
  const auto choices = piece.find("choices");
  if (choices == piece.end() || !choices->is_array() || choices->empty()) return;
  const Json& choice = (*choices)[0];
  if (!choice.is_object()) return;
  const Json part = choice.value(is_stream_ ? "delta" : "message", Json::object());
  const std::string reasoning = text_in(part, "reasoning_content");
  const std::string thought = reasoning.empty() ? text_in(part, "reasoning") : reasoning;
  if (!thought.empty()) events.emplace_back(ThinkingDelta{thought});
  add_text(part, "content", events);
  const std::string reason = text_in(choice, "finish_reason");
  if (reason.empty()) return;
  has_ended_ = true;
  end_.finish = reason == "length"           ? Finish::kLength
                : reason == "content_filter" ? Finish::kContentFilter
                                             : Finish::kStop;
}

}  // namespace rkllm_mcp::chat
