#include "chat/assistant/providers/remote_protocol.hpp"

#include "json_members.hpp"
#include "jsonrpc/bounded_json.hpp"
#include "jsonrpc/envelope.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace rkllm_mcp::chat {
namespace {

// The address that a profile names, with this path behind its own.
Url url_below(const std::string& address, std::string_view path) {
  Url url = parse_url(address);
  while (url.target.ends_with('/')) url.target.pop_back();
  url.target += path;
  return url;
}

template <typename Value>
void set_if(Json& object, const char* name, const std::optional<Value>& value) {
  if (value) object[name] = *value;
}

// What both kinds of server call by the same names.
void set_common(Json& options, const Turn& turn) {
  set_if(options, "temperature", turn.sampling.temperature);
  set_if(options, "top_p", turn.sampling.top_p);
  set_if(options, "frequency_penalty", turn.sampling.frequency_penalty);
  set_if(options, "presence_penalty", turn.sampling.presence_penalty);
  if (!turn.stop.empty()) options["stop"] = turn.stop;
}

Json ollama_body(const Turn& turn) {
  Json body{{"prompt", text_of_role(turn, Role::kUser)}};
  if (const std::string system = text_of_role(turn, Role::kSystem); !system.empty()) body["system"] = system;
  Json options = Json::object();
  set_if(options, "num_predict", turn.max_tokens);
  set_common(options, turn);
  set_if(options, "top_k", turn.sampling.top_k);
  set_if(options, "repeat_penalty", turn.sampling.repeat_penalty);
  if (!options.empty()) body["options"] = std::move(options);
  return body;
}

Json openai_body(const Turn& turn, bool is_stream) {
  Json messages = Json::array();
  if (const std::string system = text_of_role(turn, Role::kSystem); !system.empty()) {
    messages.push_back({{"role", "system"}, {"content", system}});
  }
  messages.push_back({{"role", "user"}, {"content", text_of_role(turn, Role::kUser)}});
  Json body{{"messages", std::move(messages)}};
  set_if(body, "max_tokens", turn.max_tokens);
  set_common(body, turn);
  if (is_stream) body["stream_options"] = {{"include_usage", true}};
  return body;
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

std::vector<std::string> not_sent(ProviderKind provider, const Turn& turn) {
  std::vector<std::string> fields;
  if (provider == ProviderKind::kRuntime) return fields;
  const SamplingWish& wish = turn.sampling;
  const bool has_mirostat = wish.mirostat || wish.mirostat_tau || wish.mirostat_eta;
  const bool is_ollama = provider == ProviderKind::kOllama;
  if (has_mirostat || (!is_ollama && (wish.top_k || wish.repeat_penalty))) fields.emplace_back("sampling");
  const bool says_whether_to_think = turn.thinking != Thinking::kAsTheModelDoes && !turn.thinking_field.empty();
  if (says_whether_to_think) fields.push_back(turn.thinking_field);
  if (turn.context) fields.emplace_back("options.num_ctx");
  return fields;
}

RemoteRequest remote_request(const Profile& profile, const TextWish& wish) {
  const bool is_ollama = profile.provider == ProviderKind::kOllama;
  RemoteRequest request;
  request.url = url_below(profile.url, is_ollama ? "/api/generate" : "/chat/completions");
  request.is_stream = wish.purpose == Purpose::kAnswer || wish.purpose == Purpose::kTask;
  Json body = is_ollama ? ollama_body(wish.turn) : openai_body(wish.turn, request.is_stream);
  body["model"] = profile.model_for(wish.purpose);
  body["stream"] = request.is_stream;
  // A yes or no has a few tokens, which a model that thinks would spend on that.
  if (is_ollama && wish.purpose != Purpose::kAnswer) body["think"] = false;
  request.body = to_text(body);
  return request;
}

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
  end_.usage.prompt = integer_in(piece, "prompt_eval_count");
  end_.usage.generated = integer_in(piece, "eval_count");
}

void RemoteAnswer::take_openai(const Json& piece, std::vector<AnswerEvent>& events) {
  if (const auto usage = piece.find("usage"); usage != piece.end()) {
    if (const auto prompt = integer_in(*usage, "prompt_tokens")) end_.usage.prompt = prompt;
    if (const auto generated = integer_in(*usage, "completion_tokens")) end_.usage.generated = generated;
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
