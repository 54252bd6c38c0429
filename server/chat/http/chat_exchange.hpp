// One HTTP exchange that a turn is made for: what the turn tells goes out in the words of its dialect, whole or as a
// stream.
//
// What is known to be wrong before anything was sent is an HTTP status; so the headers of a stream go out with the
// first piece of the answer, or with the first sign of life. A client that reads slowly holds its run back, and so
// everybody who waits for the same model; but not for ever: after a while in all the run goes on, and what it says
// waits in memory, as long as there is room. One that does not read at all for a while loses its connection, and so the
// run.
//
// Event loop only. Owned by whoever opened it; `gone` is called when the exchange is over, and may destroy this.
#pragma once

#include "chat/host/chat_host.hpp"
#include "chat/http/chat_job.hpp"
#include "chat/turn/response_store.hpp"
#include "clock.hpp"
#include "deadline.hpp"
#include "memory_budget.hpp"
#include "transport/http/http_exchange.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

class ChatExchange final : public TurnListener, public std::enable_shared_from_this<ChatExchange> {
 public:
  struct Options {
    Surface surface = Surface::kOpenAi;
    std::string request_id{};
    std::chrono::milliseconds heartbeat{};
    std::optional<std::chrono::milliseconds> most_held{};  // by its reader, in all; nothing: there is no limit
    MemoryShare memory{};                                  // of the request
    bool is_simulated = false;
    ResponseStore* responses = nullptr;  // that takes answers which are to be kept; not null where a job has some
    std::string asker{};
    std::function<void(const std::string& id, const std::string& why)> warn_of_unkept{};  // null: nobody is told
  };

  ChatExchange(asio::io_context& loop, http::Exchange& exchange, ChatJob job, Options options,
               std::function<void(int status)> gone);

  // Throws TurnError for what is wrong at once; then nothing has been sent, and nothing will be.
  void begin(ChatHost& host, const Asker& asker, const std::string& peer);

  void queued(std::size_t places_before) override;
  void begun(const TurnBeginning& beginning) override;
  void progress(const AnswerProgress& progress, std::size_t /*answer*/) override {
    if (job_.stream) job_.stream->progress(progress);
  }
  void event(const AnswerEvent& event, std::size_t answer) override;
  void ended(const AnswerEnd& end, std::size_t answer) override;
  void finished(const Usage& sum) override;
  void failed(const TurnError& error) override;

 private:
  http::Headers headers() const;
  void write(const std::string& piece);
  void hold_if_full();
  void go_on();
  bool has_room() const;
  void tell_ended();
  // The end of the answers, once they are kept, or it is known that they cannot be.
  void tell_end(const Usage& sum);
  void not_kept(const TurnError& error);
  void over(int status);

  const std::shared_ptr<http::Exchange> exchange_;
  ChatJob job_;
  Options options_;
  const std::function<void(int status)> gone_;
  std::unique_ptr<Running> running_;
  std::vector<Answer> answers_;  // where it is sent as a whole, or kept
  struct Ended {
    AnswerEnd end;
    std::size_t answer;
  };
  std::optional<Ended> ended_;  // of a stream; not told yet
  bool is_over_ = false;
  std::optional<std::size_t> position_;
  std::size_t dropped_ = 0;
  bool search_failed_ = false;
  std::string conversation_;  // that the answer belongs to; empty: none
  bool has_headers_ = false;
  bool is_held_ = false;
  Clock::time_point held_since_{};
  Clock::duration held_{0};  // in all, without the time since held_since_
  Deadline patience_;        // until a run that is held goes on although its reader is slow
  Deadline silence_;         // until the client is told that its request still lives
};

// Adds the header for the request's id that this surface's clients read; nothing if the id is empty.
void add_request_id(http::Headers& headers, Surface surface, std::string_view request_id);
// Adds the header that tells which fields of a request were not looked at; nothing if all were.
void add_ignored_fields(http::Headers& headers, const std::vector<std::string>& fields);
// Sends an error that is known before anything was sent. The status that it has.
int send_error(http::Exchange& exchange, Surface surface, const TurnError& error, std::string_view request_id);

}  // namespace rkllm_mcp::chat
