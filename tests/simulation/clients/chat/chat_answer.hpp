// The answer to one question of the chat host's clients: what it must be, and whether it is. Every token once, in
// order, nothing of anybody else's, and exactly one end, in the form that the dialect has for it.
#pragma once

#include "simulation/clients/http_talk.hpp"
#include "simulation/server/sim_chat_model.hpp"

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

// The one tool that there is: what is asked of it is {"about": the question's name}.
inline constexpr std::string_view kChatTool = "look";

struct ChatQuestion {
  std::string name{};      // unique
  std::size_t tokens = 0;  // that the model says to it
  std::optional<std::size_t> limit{};
  bool streams = false;
  ChatForm form = ChatForm::kText;
  bool may_call = false;                   // the model is told of the tool
  std::optional<std::string> result_of{};  // the call whose result this question brings; nothing: a person asks

  std::string text() const;
  std::string answer() const;  // as it must come
  bool is_call() const { return form == ChatForm::kCall; }
  // Also if the limit is reached with just the token that ends the text: the runtime does not tell the two apart.
  bool is_cut() const { return limit && *limit <= tokens + 1; }
};

// A question of the past, and what was said to it.
struct ChatExchanged {
  std::string question;
  std::string answer;
  std::optional<std::string> result_of{};  // as ChatQuestion::result_of
  std::optional<std::string> call{};       // the id of the call that the answer ends with; Ollama has no ids
  std::string about{};                     // the argument of that call
};
using ChatHistory = std::vector<ChatExchanged>;

std::string_view path_of(ChatDialect dialect);
// The body of a request that asks `question`, with what was said in `before` in front of it.
Json request_for(ChatDialect dialect, std::string_view model, const ChatHistory& before, const ChatQuestion& question);

// Checks an answer while it comes. Its functions throw a Violation.
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
  bool is_kept() const { return is_kept_; }  // Responses: by the server, to be gone on from
  // Once there is an answer: the error that came in place of the model's words; empty: none did.
  const std::string& error() const { return error_; }
  // The id of the call that the answer ends with; nothing: there is none.
  const std::optional<std::string>& call() const { return call_; }
  ChatExchanged exchanged() const { return {question_.text(), text_, question_.result_of, call_, question_.name}; }

 private:
  void openai_event(const Json& data);
  void ollama_event(const Json& data);
  void anthropic_event(const Json& data);
  void responses_event(const Json& data);
  void whole(const Json& body);

  void add(const Json& piece);
  void same_id(const Json& id);
  // The answer calls the tool.
  void calls(const std::string& id, const Json& name, const Json& arguments);
  struct Reasons {
    std::string_view in_full;
    std::string_view cut;
    std::string_view calls;
  };
  void ends(const Json& reason, const Reasons& reasons);
  void fails(const Json& error);
  std::string text_of_output(const Json& response) const;
  [[noreturn]] void complain(const std::string& what, Place place = Place::here()) const;

  const ChatDialect dialect_;
  const ChatQuestion question_;
  const std::string expected_;
  std::string text_;
  std::size_t tokens_ = 0;
  std::string id_;
  std::string error_;
  std::optional<std::string> call_;
  std::string called_id_;  // OpenAI, Anthropic: the id of the call whose arguments come in pieces
  Json called_;            // the name of its tool
  std::string arguments_;
  std::string open_block_;    // Anthropic: the type of the block that is open, such as "text"
  std::size_t sequence_ = 0;  // Responses: the number of the next event
  bool has_begun_ = false;
  bool has_reason_ = false;  // why it ends has been told
  bool is_over_ = false;     // nothing may follow
  bool is_kept_ = false;     // as is_kept()
  std::string last_;         // event, for complaints
};

}  // namespace rkllm_mcp::simulation
