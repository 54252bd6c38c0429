// The chat set: seven small tools by which an MCP client talks to the models of this server without knowing the C
// interface. They stand in front of the chat host as the HTTP dialects do; as a service they are called "chat-server".
//
// Event loop only.
#pragma once

#include "chat/host/chat_host.hpp"
#include "chat/mcp/chat_call.hpp"
#include "chat/mcp/conversations.hpp"
#include "immutable.hpp"
#include "lifetime.hpp"
#include "mcp/service.hpp"

#include <rkllm_mcp/json.hpp>

#include <asio/io_context.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace rkllm_mcp::chat {

class ChatTools {
 public:
  struct Options {
    std::function<bool()> is_simulated = [] { return false; };
    std::function<std::string()> trouble = [] { return std::string(); };  // why no model can be loaded; empty: nothing
    const mcp::Service* memory = nullptr;                                 // outlives it; null: chat remembers nothing
  };

  // `host` outlives it, and all invocations end before it.
  ChatTools(asio::io_context& loop, ChatHost& host, Options options);
  ChatTools(const ChatTools&) = delete;
  ChatTools& operator=(const ChatTools&) = delete;

  const Immutable<mcp::Service>& service() const { return service_; }
  // Calls under way end with an error, and none is begun any more.
  void stop();
  // Whether a call of the tool `chat` is under way, or its conversation still gets what has come of it.
  bool is_answering() const { return !calls_.empty(); }

 private:
  using Run = void (ChatTools::*)(mcp::Invocation& invocation, const Json& arguments);
  // Something that goes on for an invocation, and ends with it.
  struct Open {
    std::shared_ptr<mcp::Invocation> invocation;
    std::shared_ptr<void> work;
  };

  mcp::Service make_service();
  mcp::Tool tool(std::string_view name, Run run);
  void list_models(mcp::Invocation& invocation, const Json& arguments);
  void load_model(mcp::Invocation& invocation, const Json& arguments);
  void chat(mcp::Invocation& invocation, const Json& arguments);
  void embed(mcp::Invocation& invocation, const Json& arguments);
  void stop_answers(mcp::Invocation& invocation, const Json& arguments);
  void status(mcp::Invocation& invocation, const Json& arguments);
  void unload_model(mcp::Invocation& invocation, const Json& arguments);

  void begin_load(const std::shared_ptr<mcp::Invocation>& invocation, const ModelDescription& model);
  Json loaded(const std::string& model, const Asker& asker) const;
  void answer(mcp::Invocation& invocation, Json result) const;
  void keep(Open open);
  void let_go(std::uint64_t number);

  asio::io_context& loop_;
  ChatHost& host_;
  const Options options_;
  Conversations conversations_;
  std::unordered_map<std::uint64_t, std::shared_ptr<ChatCall>> calls_;
  std::unordered_map<std::uint64_t, Open> open_;
  std::uint64_t next_ = 0;
  bool stopping_ = false;
  const Immutable<mcp::Service> service_;
  const Lifetime alive_;  // gone: what was posted does nothing
};

}  // namespace rkllm_mcp::chat
