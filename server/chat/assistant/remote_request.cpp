#include "chat/assistant/remote_request.hpp"

#include "jsonrpc/envelope.hpp"

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

}  // namespace rkllm_mcp::chat
