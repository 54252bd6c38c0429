// The chat host's dialects as their clients speak them: how a question is asked, and what an answer says, whole or
// streamed.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::test {

struct ChatDialect {
  enum class Kind { kCompletions, kResponses, kMessages, kOllamaChat, kOllamaGenerate, kPrompts };

  Kind kind;
  const char* path;

  // A request with one question, for an answer of at most 500 tokens. It always says whether the answer is to be
  // streamed, since Ollama's default differs from that of the others.
  Json question(const std::string& model, const std::string& text, bool streams) const;
  // The same, streamed, with the answer bound to this schema; with this function to be called. Nothing where the
  // dialect has no words for that.
  std::optional<Json> question_for_json(const std::string& model, const std::string& text, const Json& schema) const;
  std::optional<Json> question_with_tool(const std::string& model, const std::string& text,
                                         const std::string& function) const;

  // What has arrived whole of a stream: lines of JSON, or the data of events. "[DONE]" becomes that text.
  std::vector<Json> parts(std::string_view body) const;
  // The answer's text that `part` has, which may be all of it.
  std::string text_of(const Json& part) const;
  // Of one JSON text, or of all parts of a stream.
  std::string text_in(std::string_view body) const;
  // Whether this part of a stream says that the answer is whole.
  bool ends_answer(const Json& part) const;
  // Whether this part of a stream says only that the request lives, in the protocol's own words.
  bool is_sign_of_life(const Json& part) const;
  // What `part`, or a whole answer, says of an error that has all that the dialect's errors have: the message, behind
  // a word for its kind where the dialect has one, "model_not_found: no such model". Nothing if it is no such error.
  std::optional<std::string> error_in(const Json& part) const;

  bool is_ollama() const { return kind == Kind::kOllamaChat || kind == Kind::kOllamaGenerate; }
};

inline constexpr std::array<ChatDialect, 6> kChatDialects{{{ChatDialect::Kind::kCompletions, "/v1/chat/completions"},
                                                           {ChatDialect::Kind::kResponses, "/v1/responses"},
                                                           {ChatDialect::Kind::kMessages, "/v1/messages"},
                                                           {ChatDialect::Kind::kOllamaChat, "/api/chat"},
                                                           {ChatDialect::Kind::kOllamaGenerate, "/api/generate"},
                                                           {ChatDialect::Kind::kPrompts, "/v1/completions"}}};

// A line that makes a simulated model answer with exactly this text, also where a template is written around it.
std::string dictated(const std::string& text);

}  // namespace rkllm_mcp::test
