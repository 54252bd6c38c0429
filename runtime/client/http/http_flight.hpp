// One message on its way over Streamable HTTP: posted, and whatever the server answers put into the inbox. Each request
// in it gets exactly one answer, if need be an error in the server's stead, unless it is stopped, or the inbox has
// failed because the server has gone. Threads: run() and all the rest on one, stop() from any.
#pragma once

#include "client/http/event_source.hpp"
#include "client/http/http_round_trip.hpp"
#include "client/http/http_server_state.hpp"
#include "client/mcp/inbox.hpp"
#include "client/mcp/message_facts.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::client {

class HttpFlight {
 public:
  // Called by run().
  struct Callbacks {
    // Called once: when every request of the message has its answer, or, if there is none in it, when the server has
    // said whether it takes the message. Nobody waits for what comes after that.
    std::function<void()> on_settled;
    // Whether other exchanges with this server are under way, which shows that it has not gone.
    std::function<bool()> has_company;
  };

  HttpFlight(HttpServerState& server, Inbox& inbox, std::unique_ptr<HttpRoundTrip> trip, MessageFacts facts,
             std::string message, Callbacks callbacks);

  const MessageFacts& facts() const { return facts_; }
  // Throws what kept this side from going on, such as std::bad_alloc, if no request is left to be told of it.
  void run();
  // Closes the response. To be repeated until run() has returned, see HttpRoundTrip::stop.
  void stop() { events_.stop(); }
  // After run(): the connection, if the next message may use it; else null.
  std::unique_ptr<HttpRoundTrip> take_reusable_trip();
  // After run(): whether the server has taken the message.
  bool was_accepted() const { return head_.status >= 200 && head_.status < 300; }

 private:
  void ask();
  bool take_head(const HttpHead& head);
  bool take_bytes(std::string_view bytes);
  void deliver(std::string message);
  void take_body();
  void take_refusal();
  void resume();
  void end_stopped();
  void end_broken();
  void refuse_all(const std::string& complaint);
  void answer_rest(const std::function<std::string(const Json& id)>& answer);  // what has no answer yet
  Loss loss() const;                                                           // why there was no connection
  bool is_answered() const { return unanswered_.empty(); }
  void settle_if_answered();

  HttpServerState& server_;
  Inbox& inbox_;
  std::unique_ptr<HttpRoundTrip> trip_;
  const MessageFacts facts_;
  const std::string message_;
  std::vector<Json> unanswered_;
  const Callbacks callbacks_;
  EventSource events_;
  HttpHead head_{};
  std::string body_;
  bool is_reusable_ = false;
  bool is_settled_ = false;
};

}  // namespace rkllm_mcp::client
