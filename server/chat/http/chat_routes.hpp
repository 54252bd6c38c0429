// The chat host's endpoints on the server's HTTP port: OpenAI's, Ollama's, Anthropic's, and those of llama.cpp's server
// that clients ask for. Which request is whose, who may ask, and which error has which form; turns are the host's.
//
// Event loop only. A long body is parsed on a thread beside it.
#pragma once

#include "chat/dialects/embedding_request.hpp"
#include "chat/host/chat_host.hpp"
#include "chat/http/chat_exchange.hpp"
#include "chat/http/tokenizers.hpp"
#include "chat/turn/model_store.hpp"
#include "clock.hpp"
#include "dispatch/gate.hpp"
#include "immutable.hpp"
#include "lifetime.hpp"
#include "memory_budget.hpp"
#include "side_thread.hpp"
#include "transport/http/http_exchange.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace rkllm_mcp::chat {

// A request that has been answered, for the log.
struct ChatNote {
  std::string request_id;
  std::string peer;
  std::string path;
  std::string asker;
  int status = 0;  // 0: the client had gone
  std::chrono::microseconds time{0};
};

// The header in which a client names its conversation; empty: it sends none.
struct ConversationHeader {
  std::string name{};
  std::string id{};
};

class ChatRoutes {
 public:
  struct Options {
    std::chrono::milliseconds heartbeat{};                        // of silence between two signs of life
    std::optional<std::chrono::milliseconds> most_held{};         // see ChatExchange
    MemoryBudget memory{};                                        // that requests count in
    std::string version{};                                        // of this program
    std::function<bool()> is_simulated = [] { return false; };    // the runtime; then every answer says so
    std::size_t most_reply_bytes = static_cast<std::size_t>(-1);  // of an answer that is not streamed
    ModelStore* store = nullptr;                                  // that models are pulled into; null: nobody may
    std::function<void(const ChatNote&)> report{};
    ResponseStore* responses = nullptr;  // that answers are kept in; null: none are
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
  // One request while it is being answered.
  struct Visit {
    std::string path;  // without what is forgiven
    std::string method;
    Surface surface = Surface::kOpenAi;
    bool wants_anthropic = false;
    std::string request_id;
    std::string peer;
    ConversationHeader conversation;
    bool is_task = false;  // a header says so; see Turn
    Asker asker;
    std::shared_ptr<http::Exchange> exchange;
    Clock::time_point begun_at;
    MemoryShare memory;
  };
  using VisitPointer = std::shared_ptr<Visit>;  // of whoever parses its body, and then of whoever answers

  void refuse_stranger(const http::Request& request, const VisitPointer& visit, bool is_guess);
  void read_body(const http::Request& request, const VisitPointer& visit);
  void post(const VisitPointer& visit, const Json& body);
  // Does post(); where nobody knows the model, it is looked for, and then post() is done once more.
  void post_or_look(const VisitPointer& visit, const Json& body);
  void get(const VisitPointer& visit);
  void refresh(const VisitPointer& visit, std::function<void()> action);  // of the models; then acts, or refuses
  void make_turn(ChatJob job, const VisitPointer& visit);
  ChatJob job_of(const ChatEndpoint& endpoint, const Json& body, const std::string& request_id) const;
  // Makes a turn, where the body names a response from which to go on.
  void go_on_from(const std::string& response, const ChatEndpoint& endpoint, const VisitPointer& visit,
                  const Json& body);
  void load_or_unload(ChatJob job, const VisitPointer& visit);
  void embed(EmbeddingSurface surface, const VisitPointer& visit, const Json& body);
  void answer_embeddings(EmbeddingSurface surface, const VisitPointer& visit,
                         const Immutable<EmbeddingRequest>& request, Embeddings made);
  // Counts what the answer to so many inputs will take; throws TurnError if that is too much.
  void check_room_for_embeddings(Visit& visit, const EmbeddingRequest& request, const std::vector<float>& first,
                                 std::size_t count) const;
  void count_tokens(const VisitPointer& visit, const Json& body);
  void tokenize(const VisitPointer& visit, const Json& body);
  void detokenize(const VisitPointer& visit, const Json& body);
  // Answers with the turn's tokens as the prefill of an idle model counts them; where there is none, with `estimate`.
  void count_by_prefill(const VisitPointer& visit, Turn turn, const std::string& estimate,
                        const http::Headers& headers);
  // Makes a text on a thread beside the loop; what it throws is the answer. The tokenizer may be null. It is to call
  // `keep_going` often, which throws when nobody waits any more, or has waited long. `then` gets the text on the loop,
  // if somebody still waits.
  using TokenWork = std::function<std::string(const Tokenizer* tokenizer, const std::function<void()>& keep_going)>;
  void use_tokenizer(const VisitPointer& visit, std::string model_path, TokenWork work,
                     std::function<void(std::string text)> then);
  // The text is the answer.
  void answer_by_tokenizer(const VisitPointer& visit, std::string model_path, TokenWork work);
  void apply_template(const VisitPointer& visit, const Json& body);
  void show(const VisitPointer& visit, const Json& body);
  void change_store(const VisitPointer& visit, const Json& body);
  void pull(const VisitPointer& visit, const Json& body);

  void answer(const VisitPointer& visit, const Json& body, const http::Headers& headers = {});
  void answer_text(const VisitPointer& visit, std::string json, const http::Headers& headers = {});
  // Answers with `json`, or with an error of that field if it is too long.
  void answer_long_text(const VisitPointer& visit, std::string json, const std::string& field,
                        const http::Headers& headers);
  void refuse(const VisitPointer& visit, const TurnError& error);
  void note(const Visit& visit, int status) const;
  // Runs `action`; what it throws is the answer.
  void or_refuse(const VisitPointer& visit, const std::function<void()>& action);
  // Something that goes on for an exchange.
  struct Open {
    std::shared_ptr<void> answering;  // its end is that of what goes on
    std::function<void(const TurnError&)> give_up;
  };

  // Until it is over or its client has gone.
  void keep(std::uint64_t number, const VisitPointer& visit, Open open);
  void let_go(std::uint64_t number);

  asio::io_context& loop_;
  Gate& gate_;
  ChatHost& host_;
  const Options options_;
  std::unordered_map<std::uint64_t, Open> open_;
  std::uint64_t next_ = 0;
  bool stopping_ = false;
  const Lifetime alive_;  // gone: what was posted does nothing
  SideThread reading_;
  Tokenizers tokenizers_;
};

}  // namespace rkllm_mcp::chat
