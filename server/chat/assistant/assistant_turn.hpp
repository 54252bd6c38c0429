// One turn of an assistant, from the question to what is kept of the answer:
//
//   question → language → guardrail → conversation → its context and summary → search → prompt → answer, perhaps with
//            calls of tools → both messages kept → summary made and kept → told
//
// Whoever asked may go at any time: what has come of the answer is kept as partial, and nothing else is begun.
//
// Threads: event loop only. Owned by whoever made it, until `gone`.
#pragma once

#include "auth/access_tokens.hpp"
#include "chat/assistant/mcp_host.hpp"
#include "chat/assistant/profile.hpp"
#include "chat/assistant/provider.hpp"
#include "chat/host/running.hpp"
#include "chat/host/turn_listener.hpp"
#include "chat/turn/answer.hpp"
#include "chat/turn/model_lender.hpp"
#include "chat/turn/turn.hpp"

#include <rkllm_mcp/json.hpp>

#include <asio/io_context.hpp>

#include <chrono>
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

// One call that an assistant has made, for the log: of a server's method, or of a model (then `server` is "model").
struct AssistantNote {
  std::string profile;
  std::string asker;
  std::string peer;
  std::string server;
  std::string call;  // "memory/get_context", "tools/call duckduckgo_search", "answer"
  std::chrono::microseconds time{0};
  std::string error;  // empty: it was answered
};

struct AssistantOptions {
  std::int64_t context_messages = 20;     // that memory/get_context is asked for
  std::int64_t summarize_threshold = 10;  // memory.summarize_threshold
  std::size_t most_summary_bytes = 4096;  // memory.summary_max_bytes: a longer one is summarised itself
  std::function<void(const AssistantNote&)> report{};
};

class AssistantTurn final : public std::enable_shared_from_this<AssistantTurn> {
 public:
  // What it works with; all of it outlives it.
  struct Surroundings {
    asio::io_context& loop;
    McpHost& servers;
    Provider& provider;
    const AssistantOptions& options;
    std::shared_ptr<const Profile> profile;
  };

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
  class Listening;
  using Clock = std::chrono::steady_clock;
  // Called with the text, or with why there is none.
  using TakeText = void (AssistantTurn::*)(const std::string& text, const TurnError* error);
  using TakeResult = void (AssistantTurn::*)(const Json& result, const std::exception_ptr& error);

  // A text of the model that is being made.
  struct Making {
    std::unique_ptr<TurnListener> listener{};
    std::unique_ptr<Running> running{};

    void drop() {
      running.reset();  // it tells the other
      listener.reset();
    }
  };

  // The steps, in their order.
  void check_language();
  void language_told(const std::string& text, const TurnError* error);
  void check_guardrail();
  void guardrail_told(const std::string& text, const TurnError* error);
  void refuse();
  void conversation_looked_at(const Json& result, const std::exception_ptr& error);
  void tell_refusal();
  void open_conversation();
  void conversation_opened(const Json& result, const std::exception_ptr& error);
  void context_read(const Json& result, const std::exception_ptr& error);
  void summary_read(const Json& result, const std::exception_ptr& error);
  void look_for_tool();
  void tools_listed(const Json& tools, const std::exception_ptr& error);
  void searched(const Json& result, const std::exception_ptr& error);
  void search_failed(const std::string& why);
  void answer();
  void gather_tools();
  void tools_offered(const Json& result, const std::exception_ptr& error);
  void make_answer();
  void call_tools();
  void tool_called(const Json& result, const std::exception_ptr& error);
  void answered(const std::string& text, const TurnError* error);
  void keep_question();
  void question_kept(const Json& result, const std::exception_ptr& error);
  void answer_kept(const Json& result, const std::exception_ptr& error);
  void summarize();
  void old_messages_read(const Json& result, const std::exception_ptr& error);
  void summary_made(const std::string& text, const TurnError* error);
  void shorter_summary_made(const std::string& text, const TurnError* error);
  void keep_summary(const std::string& text);
  void summary_kept(const Json& result, const std::exception_ptr& error);
  void finish();
  void fail(const TurnError& error);
  void leave();

  // How steps are made.
  void call(std::string_view server, const std::string& method, const Json& params, TakeResult take);
  void make_text(Purpose purpose, Turn turn, TakeText take);
  void make_short_text(Purpose purpose, const Filling& filling, TakeText take);
  void or_fail(const std::function<void()>& step);
  void begin_telling(TurnBeginning beginning);
  void note(const std::string& server, const std::string& what, Clock::time_point begun,
            const std::string& error) const;
  bool has_conversation() const { return !turn_.conversation.empty(); }
  bool has_answered() const { return !is_answering_ && calls_.empty() && !answer_.text.empty(); }
  std::string told(const std::vector<Message>& messages) const;
  const Profile& profile() const { return *surroundings_.profile; }

  const Surroundings surroundings_;
  Turn turn_;
  const Asker asker_;
  const Principal principal_;
  const std::string peer_;
  TurnListener* listener_;  // null: nobody listens any more
  const std::function<void()> gone_;
  std::string question_;
  std::string system_;            // of the client
  std::vector<Message> history_;  // without the question
  Language language_ = Language::kEnglish;
  std::string conversation_;  // that the answer belongs to; empty: none
  std::string summary_;
  std::string results_;
  bool search_failed_ = false;
  bool has_begun_ = false;          // the listener has been told
  bool owns_conversation_ = false;  // nobody else goes on with it meanwhile
  bool is_answering_ = false;
  bool is_held_ = false;
  bool is_ending_ = false;  // the server
  Answer answer_;
  bool is_partial_ = false;
  Turn answering_;                                 // what the answer is made of
  std::vector<std::string> unasked_;               // servers whose tools are not known yet
  std::map<std::string, std::string> tool_hosts_;  // which server has a tool that is offered to the model
  std::vector<ToolCall> calls_;                    // that the model wants made
  std::size_t called_ = 0;                         // of them
  std::int64_t rounds_ = 0;                        // of calls
  HostCall call_;
  Making making_;
};

}  // namespace rkllm_mcp::chat
