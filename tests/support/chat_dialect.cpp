#include "support/chat_dialect.hpp"

namespace rkllm_mcp::test {
namespace {

using Kind = ChatDialect::Kind;

constexpr int kMostTokens = 500;

std::string text_at(const Json& object, const char* where) {
  const Json::json_pointer pointer(where);
  return object.contains(pointer) && object.at(pointer).is_string() ? object.at(pointer).get<std::string>() : "";
}

std::string type_of(const Json& part) { return part.is_object() ? part.value("type", "") : ""; }

}  // namespace

Json ChatDialect::question(const std::string& model, const std::string& text, bool streams) const {
  Json body{{"model", model}, {"stream", streams}};
  const Json messages = Json::array({{{"role", "user"}, {"content", text}}});
  switch (kind) {
    case Kind::kCompletions:
    case Kind::kMessages:
      body["messages"] = messages;
      body["max_tokens"] = kMostTokens;
      break;
    case Kind::kResponses:
      body["input"] = messages;
      body["max_output_tokens"] = kMostTokens;
      break;
    case Kind::kOllamaChat: body["messages"] = messages; break;
    case Kind::kOllamaGenerate: body["prompt"] = text; break;
    case Kind::kPrompts:
      body["prompt"] = text;
      body["max_tokens"] = kMostTokens;
      break;
  }
  if (is_ollama()) body["options"] = {{"num_predict", kMostTokens}};
  return body;
}

std::optional<Json> ChatDialect::question_for_json(const std::string& model, const std::string& text,
                                                   const Json& schema) const {
  Json body = question(model, text, true);
  const Json format{{"type", "json_schema"}, {"name", "answer"}, {"schema", schema}};
  switch (kind) {
    case Kind::kCompletions:
      body["response_format"] = {{"type", "json_schema"}, {"json_schema", {{"name", "answer"}, {"schema", schema}}}};
      break;
    case Kind::kResponses: body["text"] = {{"format", format}}; break;
    case Kind::kMessages: body["output_config"] = {{"format", {{"type", "json_schema"}, {"schema", schema}}}}; break;
    case Kind::kOllamaChat:
    case Kind::kOllamaGenerate: body["format"] = schema; break;
    case Kind::kPrompts: return std::nullopt;
  }
  return body;
}

std::optional<Json> ChatDialect::question_with_tool(const std::string& model, const std::string& text,
                                                    const std::string& function) const {
  if (kind == Kind::kOllamaGenerate || kind == Kind::kPrompts) return std::nullopt;
  Json body = question(model, text, true);
  const Json schema{{"type", "object"}, {"properties", Json::object()}};
  Json tool{{"name", function}, {"parameters", schema}};
  if (kind == Kind::kMessages) {
    tool = {{"name", function}, {"input_schema", schema}};
  } else if (kind == Kind::kResponses) {
    tool["type"] = "function";
  } else {
    tool = {{"type", "function"}, {"function", tool}};
  }
  body["tools"] = Json::array({tool});
  return body;
}

std::vector<Json> ChatDialect::parts(std::string_view body) const {
  constexpr std::string_view kData = "data: ";
  constexpr std::string_view kDone = "[DONE]";
  std::vector<Json> parts;
  for (auto end = body.find('\n'); end != std::string_view::npos; end = body.find('\n')) {
    std::string_view line = body.substr(0, end);
    body.remove_prefix(end + 1);
    if (line.empty() || (!is_ollama() && !line.starts_with(kData))) continue;
    if (line.starts_with(kData)) line.remove_prefix(kData.size());
    parts.push_back(line == kDone ? Json(kDone) : Json::parse(line));
  }
  return parts;
}

std::string ChatDialect::text_of(const Json& part) const {
  switch (kind) {
    case Kind::kCompletions:
      return text_at(part, "/choices/0/delta/content") + text_at(part, "/choices/0/message/content");
    case Kind::kResponses:
      return type_of(part) == "response.output_text.delta" ? text_at(part, "/delta")
                                                           : text_at(part, "/output/0/content/0/text");
    case Kind::kMessages: return text_at(part, "/content/0/text") + text_at(part, "/delta/text");
    case Kind::kOllamaChat: return text_at(part, "/message/content");
    case Kind::kOllamaGenerate: return text_at(part, "/response");
    case Kind::kPrompts: return text_at(part, "/choices/0/text");
  }
  return {};
}

std::string ChatDialect::text_in(std::string_view body) const {
  if (!is_ollama() && body.starts_with("{")) return text_of(Json::parse(body));
  std::string text;
  for (const Json& part : parts(std::string(body) + "\n")) text += text_of(part);
  return text;
}

bool ChatDialect::ends_answer(const Json& part) const {
  switch (kind) {
    case Kind::kCompletions:
    case Kind::kPrompts: return part == "[DONE]" || !text_at(part, "/choices/0/finish_reason").empty();
    case Kind::kResponses: return type_of(part) == "response.completed" || type_of(part) == "response.incomplete";
    case Kind::kMessages: return type_of(part) == "message_delta" || type_of(part) == "message_stop";
    case Kind::kOllamaChat:
    case Kind::kOllamaGenerate: return part.value("done", false);
  }
  return false;
}

bool ChatDialect::is_sign_of_life(const Json& part) const {
  if (kind == Kind::kMessages) return type_of(part) == "ping";
  if (kind == Kind::kResponses) return type_of(part) == "response.in_progress";
  if (!part.is_object() || ends_answer(part)) return false;
  if (is_ollama()) {
    const Json piece = kind == Kind::kOllamaChat ? part.value("message", Json::object()) : part;
    return part.contains("done") && text_of(part).empty() && !piece.contains("thinking") &&
           !piece.contains("tool_calls");
  }
  if (kind == Kind::kPrompts) return part.value(Json::json_pointer("/choices/0/text"), "?").empty();
  const Json delta = part.value(Json::json_pointer("/choices/0/delta"), Json());
  if (!delta.is_object()) return false;
  if (delta.value("role", "") == "assistant" && delta.value("content", "?").empty()) return true;  // the first one
  return delta == Json::object();
}

std::optional<std::string> ChatDialect::error_in(const Json& part) const {
  if (!part.is_object()) return std::nullopt;
  const auto of = [&part](const char* word, const char* message) -> std::optional<std::string> {
    if (text_at(part, word).empty() || text_at(part, message).empty()) return std::nullopt;
    return text_at(part, word) + ": " + text_at(part, message);
  };
  switch (kind) {
    case Kind::kResponses:
      if (type_of(part) == "response.failed" && text_at(part, "/response/status") == "failed") {
        return of("/response/error/code", "/response/error/message");
      }
      [[fallthrough]];
    case Kind::kCompletions:
    case Kind::kPrompts: {
      const bool is_whole = !text_at(part, "/error/type").empty() && part.contains(Json::json_pointer("/error/param"));
      return is_whole ? of("/error/code", "/error/message") : std::nullopt;
    }
    case Kind::kMessages: {
      const bool is_whole = type_of(part) == "error" && !text_at(part, "/request_id").empty();
      return is_whole ? of("/error/type", "/error/message") : std::nullopt;
    }
    case Kind::kOllamaChat:
    case Kind::kOllamaGenerate: {
      const std::string message = part.size() == 1 ? text_at(part, "/error") : "";
      return message.empty() ? std::nullopt : std::optional(message);
    }
  }
  return std::nullopt;
}

std::string dictated(const std::string& text) {
  std::string line = "@say=" + Json(text).dump();
  // No user can write a mark of the model's template, so it is written in another way.
  for (std::size_t at = line.find('<'); at != std::string::npos; at = line.find('<')) line.replace(at, 1, "\\u003c");
  return line;
}

}  // namespace rkllm_mcp::test
