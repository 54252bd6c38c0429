// A conversation with the chat host, as its client knows it: what it asks next, and what must have been said before.
// Who keeps it is different: the client, which sends all of it each time; the server, in answers that were kept; or the
// memory server, for an assistant.
#pragma once

#include "chat_answer.hpp"
#include "simulation/clients/http_talk.hpp"
#include "simulation/server/sim_server.hpp"
#include "simulation/world/world.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace rkllm_mcp::simulation {

class ChatConversation {
 public:
  struct Asked {
    ChatQuestion question{};
    Json body{};
    HttpTalk::Fields fields{};
    ChatHistory before{};
    bool is_kept = false;
    std::size_t failures = 0;  // how often whoever keeps the conversation had failed before
    std::size_t overlaps = 0;  // how often two of its questions were under way at once before
  };

  ChatConversation() = default;
  ChatConversation(const ChatConversation&) = delete;
  ChatConversation& operator=(const ChatConversation&) = delete;
  virtual ~ChatConversation() = default;

  virtual ChatDialect dialect() const = 0;
  virtual std::string_view model() const = 0;  // that answers
  virtual Asked ask(ChatQuestion question) = 0;
  // Whether the model may be told of the tool, and asked for JSON.
  virtual bool may_call() const { return false; }
  virtual bool may_want_json() const { return false; }
  // A question has been answered, and `prompt` is what the model was told. Throws a Violation.
  virtual void answered(const Asked& asked, const ChatAnswer& answer, const std::string& prompt) = 0;
  // Whether this error may come: whoever keeps the conversation has failed, or has to refuse a second question.
  virtual bool excuses(const Asked& /*asked*/, const std::string& /*error*/) { return false; }
  // The client has lost interest in an answer.
  virtual void left() {}
  // Whether something may still be asked of the model when the client has gone: a summary of what it was told.
  virtual bool is_summed_up() const { return false; }
  // Takes the last question and its answer out of the conversation, where the client can.
  virtual void go_back() {}
  // To be called when the schedule is over. Throws a Violation.
  virtual void check_end() {}
};

std::unique_ptr<ChatConversation> make_sent_conversation(World& world);
std::unique_ptr<ChatConversation> make_kept_conversation(World& world, SimServer& server);
std::unique_ptr<ChatConversation> make_remembered_conversation(World& world, SimServer& server, std::string id);

}  // namespace rkllm_mcp::simulation
