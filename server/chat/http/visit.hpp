// One request to the chat host while it is being answered: who asks for what, and how an answer or an error looks
// there.
//
// Event loop only. Shared: kept by whoever parses its body, and then by whoever answers.
#pragma once

#include "chat/http/chat_job.hpp"
#include "chat/turn/model_lender.hpp"
#include "chat/turn/turn_error.hpp"
#include "clock.hpp"
#include "lifetime.hpp"
#include "memory_budget.hpp"
#include "transport/http/http_exchange.hpp"

#include <rkllm_mcp/json.hpp>

#include <asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

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

class Visit : public std::enable_shared_from_this<Visit> {
 public:
  // What all answers go by.
  struct Rules {
    std::function<bool()> is_simulated = [] { return false; };    // the runtime; then every answer says so
    std::size_t most_reply_bytes = static_cast<std::size_t>(-1);  // of an answer that is not streamed
    std::function<void(const ChatNote&)> report{};                // may be empty
  };

  // Keeps the exchange; `rules` outlives it. Who asks is filled in by whoever looks that up.
  Visit(asio::io_context& loop, const Rules& rules, const http::Request& request, http::Exchange& exchange,
        MemoryShare share);

  // Each of these sends the whole answer, and reports it for the log.
  void answer(const Json& body, const http::Headers& headers = {}) const;
  void answer_text(std::string json, const http::Headers& headers = {}) const;
  // Answers with `json`, or with an error of that field if it is too long.
  void answer_long_text(std::string json, const std::string& field, const http::Headers& headers) const;
  void refuse(const TurnError& error) const;

  // Throws TurnError if the id in the header `conversation` is none that can be kept.
  void check_conversation() const;

  // For whoever answers by the exchange itself.
  void note(int status) const;
  // Runs `action`; what it throws is the answer.
  void or_refuse(const std::function<void()>& action) const;
  const Rules& rules() const { return rules_; }

  const std::string path;  // see corrected_path()
  const std::string method;
  const bool wants_anthropic;
  const Surface surface;
  const std::string request_id;
  const std::string peer;
  const ConversationHeader conversation;
  const bool is_task;  // a header says so; see Turn
  Asker asker;
  const std::shared_ptr<http::Exchange> exchange;
  MemoryShare memory;

 private:
  asio::io_context& loop_;
  const Rules& rules_;
  const Clock::time_point begun_at_ = Clock::now();
};

// "/v1/v1/models" and "/v1//models" are what clients make of an address that ends in "/v1" or "/v1/".
std::string corrected_path(std::string_view path);
// The surface that a client of this path expects. `path`: what corrected_path() has returned.
Surface surface_of(const http::Request& request, std::string_view path);
// The header that tells which fields of a request were not looked at; none, if all were.
http::Headers ignored_fields(const std::vector<std::string>& fields);
// There is no memory for a request now.
TurnError no_memory_now();
TurnError too_long_answer(const std::string& field, std::size_t bytes);

// What goes on for requests whose answers take a while: kept until it is over, or until its client has gone.
class OpenVisits {
 public:
  struct Open {
    std::shared_ptr<void> answering;  // what makes the answer; its destruction stops that
    std::function<void(const TurnError&)> give_up;
  };

  explicit OpenVisits(asio::io_context& loop) : loop_(loop) {}

  std::uint64_t new_number() { return ++last_; }
  // Keeps `open` until let_go(number), which may also come before this call, or until the visit's client has gone.
  void keep(std::uint64_t number, const Visit& visit, Open open);
  // The same for what cannot be given up by itself: where all are given up, the visit is refused.
  void keep(std::uint64_t number, const Visit& visit, std::shared_ptr<void> answering);
  // It counts as gone at once, and is destroyed soon: callbacks of what is kept may call this.
  void let_go(std::uint64_t number);
  // Whether a visit of that number is kept, and has not been let go.
  bool has(std::uint64_t number) const;
  // Calls `answer`, which sends all that is still to be said, and lets go. Does nothing for a visit that is gone: its
  // client has gone, or it has been given up.
  void end(std::uint64_t number, const std::function<void()>& answer);
  std::size_t size() const;  // without what has been let go
  // Not from a callback of what is kept.
  void give_up_all(const TurnError& error);

 private:
  struct Kept {
    Open open;
    bool is_let_go = false;
  };

  asio::io_context& loop_;
  std::unordered_map<std::uint64_t, Kept> open_;
  std::uint64_t last_ = 0;
  const Lifetime alive_;  // gone: what was posted does nothing
};

}  // namespace rkllm_mcp::chat
