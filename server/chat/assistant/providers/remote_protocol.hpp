// How another server is asked for a text, and what it answers in pieces as they come: Ollama's POST /api/generate, or
// OpenAI's POST chat/completions. Pure; a RemoteAnswer is not for several threads.
#pragma once

#include "chat/assistant/providers/provider.hpp"
#include "chat/turn/answer.hpp"
#include "text/url.hpp"

#include <rkllm_mcp/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

struct RemoteRequest {
  Url url;
  std::string body;
  bool is_stream = false;  // answers are; a yes, a no and a summary come whole
};

// `profile.provider` is not kRuntime. Throws std::invalid_argument if its url is none.
RemoteRequest remote_request(const Profile& profile, const TextWish& wish);

// What a client has asked for and such a provider is not told, by the names that x-rkllm-ignored has.
std::vector<std::string> not_sent(ProviderKind provider, const Turn& turn);

class RemoteAnswer {
 public:
  // `kind` is not kRuntime.
  RemoteAnswer(ProviderKind kind, bool is_stream) : kind_(kind), is_stream_(is_stream) {}

  // The next bytes of the body, and what they say.
  std::vector<AnswerEvent> feed(std::string_view bytes);
  // The body is at its end. The rest of what it says.
  std::vector<AnswerEvent> finish();

  // What is wrong with it; empty: nothing. Before finish(): what the server has said of it in mid-stream.
  const std::string& complaint() const { return complaint_; }
  const AnswerEnd& end() const { return end_; }

 private:
  void take_line(std::string_view line, std::vector<AnswerEvent>& events);
  void take(const Json& piece, std::vector<AnswerEvent>& events);
  void take_ollama(const Json& piece, std::vector<AnswerEvent>& events);
  void take_openai(const Json& piece, std::vector<AnswerEvent>& events);

  const ProviderKind kind_;
  const bool is_stream_;
  std::string unread_;
  std::string complaint_;
  bool has_ended_ = false;
  AnswerEnd end_;
};

// The complaint in a body that came with an error's status; empty if it says nothing.
std::string complaint_in(std::string_view body);

}  // namespace rkllm_mcp::chat
