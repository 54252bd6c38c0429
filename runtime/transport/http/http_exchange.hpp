// One HTTP request on its way to an answer: either one response, or a stream (for Server-Sent Events) that is written
// as it comes into being.
//
// What is not declared here is Writable's. The client counts as gone as soon as it stops sending before the answer is
// complete; the actions of when_closed() then run, and all that is still said is dropped. An exchange that everybody
// lets go of unanswered is answered with 500, so that no client waits for ever.
//
// Threads: belongs to the event loop.
#pragma once

#include "transport/bytes/writable.hpp"
#include "transport/http/http_message.hpp"
#include "transport/http/http_parser.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp::http {

class Exchange : public Writable, public std::enable_shared_from_this<Exchange> {
 public:
  // The whole answer. To be called once, and not after start_stream().
  virtual void respond(Response response) = 0;
  // Begins an answer of unknown length, sent in chunks. `headers` say what it is (Content-Type).
  virtual void start_stream(int status, const Headers& headers) = 0;
  // The next piece of the stream. Never blocks; pieces written within one pass of the loop leave together.
  virtual void write(std::string_view bytes) = 0;
  virtual void finish() = 0;  // the stream is complete
};

// The function that answers requests. It may answer at once or keep the exchange and answer later.
using Handler = std::function<void(const Request&, Exchange&)>;

// Puts a refusal that is made below the handler into the words of the protocol that is spoken at that path; `request`
// is what has been read of it so far, perhaps not even the path. Nothing: it is told in plain words.
using RefusalHandler = std::function<std::optional<Response>(const Request& request, const Refusal& refusal)>;

// Runs `refuse`, which refuses a wrong token that came from `address`: now, or later if there have been many.
using GuessHandler = std::function<void(const std::string& address, std::function<void()> refuse)>;

}  // namespace rkllm_mcp::http
