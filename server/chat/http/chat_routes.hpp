// The chat host's endpoints on the server's HTTP port: OpenAI's, Ollama's, Anthropic's, and those of llama.cpp's server
// that clients ask for. Which request is whose, who may ask, and which error has which form; turns are the host's.
//
// Event loop only. A long body is parsed on a thread beside it.
#pragma once

#include "chat/host/chat_host.hpp"
#include "chat/http/chat_exchange.hpp"
#include "chat/http/embedding_endpoints.hpp"
#include "chat/http/token_endpoints.hpp"
#include "chat/http/visit.hpp"
#include "chat/turn/model_store.hpp"
#include "dispatch/gate.hpp"
#include "lifetime.hpp"
#include "memory_budget.hpp"
#include "side_thread.hpp"
#include "transport/http/http_exchange.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace rkllm_mcp::chat {

class ChatRoutes {
 public:
  struct Options {
    std::chrono::milliseconds heartbeat{};                 // of silence between two signs of life
    std::optional<std::chrono::milliseconds> most_held{};  // see ChatExchange
    MemoryBudget memory{};                                 // that requests count in
    std::string version{};                                 // of this program
    ModelStore* store = nullptr;                           // that models are pulled into; null: nobody may
    Visit::Rules answers{};
    ResponseStore* responses = nullptr;  // that answers are kept in; null: none are
    // One of these could not be kept; null: nobody is told.
    std::function<void(const std::string& id, const std::string& why)> warn_of_unkept{};
    Tokenizers::WarnFunction warn_of_tokenizer{};
  };

  ChatRoutes(asio::io_context& loop, Gate& gate, ChatHost& host, Options options);
  ChatRoutes(const ChatRoutes&) = delete;
  ChatRoutes& operator=(const ChatRoutes&) = delete;
  ~ChatRoutes();

  // Whether this path is one of the chat host's, with this method.
  static bool serves(const http::Request& request);
  // The form that a refusal of the HTTP layer has at such a path; nothing for others.
  static std::optional<http::Response> refusal(const http::Request& request, const http::Refusal& refusal);
  void handle(const http::Request& request, http::Exchange& exchange);
  // Gives up all that goes on, with an error for whoever waits.
  void stop();

  std::size_t open() const { return open_.size(); }

 private:
  void refuse_stranger(const http::Request& request, Visit& visit, bool is_guess);
  void read_body(const http::Request& request, Visit& visit);
  void post(Visit& visit, const Json& body);
  void get(Visit& visit);
  void refresh(Visit& visit, std::function<void()> action);  // of the models; then acts, or refuses
  void make_turn(ChatJob job, Visit& visit);
  ChatJob job_of(const ChatEndpoint& endpoint, const Json& body, const std::string& request_id) const;
  // Makes a turn, where the body names a response from which to go on.
  void go_on_from(const std::string& response, const ChatEndpoint& endpoint, Visit& visit, const Json& body);
  void load_or_unload(ChatJob job, Visit& visit);
  void apply_template(Visit& visit, const Json& body);
  void show(Visit& visit, const Json& body);
  void change_store(Visit& visit, const Json& body);
  void pull(Visit& visit, const Json& body);

  asio::io_context& loop_;
  Gate& gate_;
  ChatHost& host_;
  const Options options_;
  bool stopping_ = false;
  OpenVisits open_;
  const Lifetime alive_;  // gone: what was posted does nothing
  SideThread reading_;
  EmbeddingEndpoints embeddings_;
  TokenEndpoints tokens_;
};

}  // namespace rkllm_mcp::chat
