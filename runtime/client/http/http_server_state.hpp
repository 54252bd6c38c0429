// What all requests of one Streamable HTTP client share: where the server is, and what its answer to `initialize` has
// settled. Threads: everything may be called from any; one lock guards what changes.
#pragma once

#include "client/endpoint.hpp"
#include "client/http/http_round_trip.hpp"
#include "client/http/param_headers.hpp"
#include "client/mcp/message_facts.hpp"

#include <mutex>
#include <string>

namespace rkllm_mcp::client {

class HttpServerState {
 public:
  HttpServerState(Endpoint endpoint, std::chrono::milliseconds connect_patience);

  const std::string& path() const { return endpoint_.path; }
  const std::string& url() const { return url_; }
  bool has_token() const { return !endpoint_.token.empty(); }

  // A connection for requests. Each wait for bytes takes `read_patience` at most.
  std::unique_ptr<HttpRoundTrip> connection(std::chrono::milliseconds read_patience) const;
  // A connection that takes `patience` at most to be made, and for each wait for bytes.
  std::unique_ptr<HttpRoundTrip> brief_connection(std::chrono::milliseconds patience) const;
  // Throws ConnectionError if nothing accepts connections there.
  void reach() const;
  bool is_reachable() const;

  HttpRequest post(const MessageFacts& facts, std::string message) const;
  // The request for a stream of events. If the id is not empty: for those that come after the event with that id.
  HttpRequest get(const std::string& last_event_id) const;
  HttpRequest end_of_session() const;

  // From the answer to `initialize`: take_id() gets its header Mcp-Session-Id, take_revision() the whole result.
  void take_id(const std::string& id);
  void take_revision(const std::string& answer);
  bool has_id() const;
  // Learns from an answer to tools/list of the modern era which arguments of a call post() repeats in headers.
  void take_tools(const std::string& answer) { param_headers_.learn(answer); }

 private:
  std::multimap<std::string, std::string> session_headers() const;

  const Endpoint endpoint_;
  const std::string url_;
  const std::chrono::milliseconds connect_patience_;
  ParamHeaders param_headers_;  // has a lock of its own
  mutable std::mutex mutex_;    // guards what follows
  std::string id_;              // empty: the server keeps no session, or has not said so yet
  std::string revision_;        // agreed on; empty: not yet
};

}  // namespace rkllm_mcp::client
