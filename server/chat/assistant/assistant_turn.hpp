// One turn of an assistant, from the question to what is kept of the answer:
//
//   question → language → guardrail → conversation → its context and summary → search → prompt → answer, perhaps with
//            calls of tools → both messages kept → summary made and kept → told
//
// What a client asks for its own use (a title of the chat) goes to the model alone, and nothing of it is kept.
// Whoever asked may go at any time: what has come of the answer is kept as partial, and nothing else is begun.
//
// Threads: event loop only. Owned by whoever made it, until `gone`.
#pragma once

#include "chat/assistant/assistant_calls.hpp"
#include "chat/assistant/kept_conversation.hpp"
#include "chat/assistant/profile/profile.hpp"
#include "chat/host/turn_listener.hpp"
#include "chat/turn/answer.hpp"
#include "chat/turn/model_lender.hpp"
#include "chat/turn/turn.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rkllm_mcp::chat {

class AssistantTurn final : public std::enable_shared_from_this<AssistantTurn> {
 public:
  using Surroundings = AssistantCalls::Surroundings;

  AssistantTurn(Surroundings surroundings, Turn turn, const Asker& asker, std::string peer, TurnListener& listener,
                std::function<void()> gone);
  AssistantTurn(const AssistantTurn&) = delete;
  AssistantTurn& operator=(const AssistantTurn&) = delete;
  ~AssistantTurn();

  // Throws TurnError for what is wrong at once; then nothing is told.
  void begin();
  void listener_gone();
  // The server ends: no further text is made. What is whole, or has come so far, is still kept.
  void stop();
  void hold();
  void go_on();

 private:
  class TextRelay;

  // The steps, in their order.
  void check_language();
  void language_told(const std::string& text, const TurnError* error);
  void check_guardrail();
  void guardrail_told(const std::string& text, const TurnError* error);
  void refuse();
  void tell_refusal();
  void open_conversation();
  void look_for_tool();
  void tools_listed(const Json& tools, const std::exception_ptr& error);
  void searched(const Json& result, const std::exception_ptr& error);
  void search_failed(const std::string& why);
  void answer();
  void answer_task();
  void gather_tools();
  void tools_offered(const Json& result, const std::exception_ptr& error);
  void make_answer();
  void call_tools();
  void tool_called(const Json& result, const std::exception_ptr& error);
  void answered(const std::string& text, const TurnError* error);
  void keep();
  void finish();
  void fail(const TurnError& error);
  void leave();

  // Goes on with that step.
  AssistantCalls::TakeResult then(void (AssistantTurn::*step)(const Json& result, const std::exception_ptr& error)) {
    return [this, step](const Json& result, const std::exception_ptr& error) { (this->*step)(result, error); };
  }
  AssistantCalls::TakeText then(void (AssistantTurn::*step)(const std::string& text, const TurnError* error)) {
    return [this, step](const std::string& text, const TurnError* error) { (this->*step)(text, error); };
  }
  Turn turn_of_answer() const;
  void begin_telling(TurnBeginning beginning);
  bool has_conversation() const { return kept_.has_value(); }
  bool has_answered() const { return !is_answering_ && wanted_.empty() && !answer_.text.empty(); }
  McpHost& servers() const { return calls_.with().servers; }
  const Profile& profile() const { return calls_.profile(); }

  const std::unique_ptr<TurnListener> relay_;  // hears what comes of texts
  AssistantCalls calls_;
  Turn turn_;
  const Asker asker_;
  TurnListener* listener_;  // null: nobody listens any more
  const std::function<void()> gone_;
  std::string question_;
  std::string system_;                // of the client
  std::vector<ChatMessage> history_;  // without the question
  Language language_ = Language::kEnglish;
  std::optional<KeptConversation> kept_;  // nothing: none was chosen
  std::string conversation_;              // that the answer belongs to; empty: none
  std::string summary_;
  std::string results_;
  bool search_failed_ = false;
  bool has_begun_ = false;          // the listener has been told
  bool owns_conversation_ = false;  // nobody else goes on with it meanwhile
  bool is_answering_ = false;
  bool is_held_ = false;
  Answer answer_;
  bool is_partial_ = false;
  Turn answering_;                                 // what the answer is made of
  std::vector<std::string> unasked_;               // servers whose tools are not known yet
  std::map<std::string, std::string> tool_hosts_;  // which server has a tool that is offered to the model
  std::vector<ToolCall> wanted_;                   // calls that the model wants made
  std::size_t called_ = 0;                         // how many of wanted_ have been begun
  std::int64_t rounds_ = 0;                        // how many rounds of calls have ended
};

}  // namespace rkllm_mcp::chat
