// The conversation of an assistant's turn, as the memory server has it: read before the answer, and added to behind it,
// with a summary where the profile wants one.
//
// Threads: event loop only. What it has asked for is given up with the AssistantCalls that it asks.
#pragma once

#include "chat/assistant/assistant_calls.hpp"
#include "chat/assistant/profile/language.hpp"
#include "chat/assistant/profile/wording.hpp"
#include "chat/turn/turn.hpp"

#include <rkllm_mcp/json.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::chat {

// memory::kServiceName, which this folder must not see: app/services/chat_service.cpp holds one against the other.
inline constexpr std::string_view kMemoryServer = "memory-server";

class KeptConversation {
 public:
  // `id`: as the client has chosen it. `calls` outlives it.
  KeptConversation(AssistantCalls& calls, std::string id) : calls_(calls), id_(std::move(id)) {}
  KeptConversation(const KeptConversation&) = delete;
  KeptConversation& operator=(const KeptConversation&) = delete;

  const std::string& id() const { return id_; }

  // Whether anything was said in it, or why that is not known.
  void look(std::function<void(bool is_there, const TurnError* error)> done);

  // What was said before, without `question` if that is the last, which is asked again.
  struct Remembered {
    std::string id{};  // as the memory server has it
    std::vector<ChatMessage> messages{};
    std::string summary{};
  };
  // Begins it, if it is new.
  void read(const std::string& question, std::function<void(const Remembered& found, const TurnError* error)> done);

  struct Addition {
    std::string question{};
    std::string answer{};
    bool is_partial = false;  // then no summary is made
    Language language = Language::kEnglish;
  };
  // Adds to it. The answer has gone out: what cannot be kept is in the log, and no reason to call the answer wrong.
  void add(Addition addition, std::function<void()> done);

 private:
  void context_read(const Json& result, const std::exception_ptr& error);
  void summarize();
  void old_messages_read(const Json& result, const std::exception_ptr& error);
  void summary_made(const std::string& text, const TurnError* error);
  void keep_summary(const std::string& text);
  Json with_id(Json params) const;

  AssistantCalls& calls_;
  const std::string id_;
  std::string question_;
  Remembered remembered_;
  std::function<void(const Remembered&, const TurnError*)> read_;
  Addition addition_;
  std::function<void()> added_;
};

// What was said, a line for each message, with the names that the wording has for those who spoke.
std::string told(const Wording& wording, const std::vector<ChatMessage>& messages);

}  // namespace rkllm_mcp::chat
