// The answer to one question of the chat host's clients: what it must be, and whether it is. Every token once, in
// order, nothing of anybody else's, and exactly one end, in the form that the dialect has for it.
#pragma once

#include "http_talk.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::simulation {

enum class ChatDialect { kOpenAi, kOllama, kAnthropic, kResponses };
inline constexpr std::uint32_t kChatDialects = 4;

struct ChatQuestion {
  std::string name{};      // unique
  std::size_t tokens = 0;  // that the model says to it
  std::optional<std::size_t> limit{};
  bool streams = false;

  std::string text() const;
  std::string answer() const;  // as it must come
  // Also where the limit is reached by the token that ends the text: the runtime does not say which it was.
  bool is_cut() const { return limit && *limit <= tokens + 1; }
};

// A question of the past, and what was said to it.
struct ChatExchanged {
  std::string question;
  std::string answer;
};
using ChatHistory = std::vector<ChatExchanged>;

std::string_view path_of(ChatDialect dialect);
// What asks for it, behind what has been said before.
Json request_for(ChatDialect dialect, std::string_view model, const ChatHistory& before, const ChatQuestion& question);

// Its functions throw a Violation.
class ChatAnswer {
 public:
  ChatAnswer(ChatDialect dialect, ChatQuestion question)
      : dialect_(dialect), question_(std::move(question)), expected_(question_.answer()) {}

  void event(const HttpTalk::Event& event);
  void answered(const HttpTalk::Answer& answer);

  const ChatQuestion& question() const { return question_; }
  const std::string& text() const { return text_; }  // that has come so far
  std::size_t tokens() const { return tokens_; }     // of it
  const std::string& id() const { return id_; }
  // Once it has been answered: why not with the model's words; empty: it was.
  const std::string& error() const { return error_; }

 private:
  void openai_event(const Json& data);
  void ollama_event(const Json& data);
  void anthropic_event(const Json& data);
  void responses_event(const Json& data);
  void whole(const Json& body);

  void add(const Json& piece);
  void same_id(const Json& id);
  void ends(const Json& reason, std::string_view in_full, std::string_view cut);
  void fails(const Json& error);
  std::string text_of_output(const Json& response) const;
  [[noreturn]] void complain(const std::string& what) const;

  const ChatDialect dialect_;
  const ChatQuestion question_;
  const std::string expected_;
  std::string text_;
  std::size_t tokens_ = 0;
  std::string id_;
  std::string error_;
  std::string open_block_;    // Anthropic: "text" while one is open
  std::size_t sequence_ = 0;  // Responses: of the next event
  bool has_begun_ = false;
  bool has_reason_ = false;  // why it ends has been told
  bool is_over_ = false;     // nothing may follow
  std::string last_;         // event, for complaints
};

}  // namespace rkllm_mcp::simulation
