// One execution of a tool or a prompt: its arguments, its client, and the ways to speak to that client before the
// result. A tool is written once for all revisions and transports.
//
// An invocation that needs something from its client asks for it, and its tool is then called once more, with the
// answers and the state that it left: nothing of it needs to be kept meanwhile.
//
// Event loop only.
#pragma once

#include "call/session.hpp"
#include "jsonrpc/reply.hpp"
#include "mcp/protocol/era.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::mcp {

class Invocation;
class StateSeal;

// Begins one execution, which may end at once or later, by a function of the invocation. What it throws is the error.
using InvokeFunction = std::function<void(Invocation&)>;

// Takes the outcome of an invocation, and what the invocation says before, and hands both to the request, or to a task
// that outlives the request. One of result() and error() is called, once and last, unless the client cancels. The
// client may have gone by then.
class Requester {
 public:
  virtual ~Requester() = default;
  virtual void result(Json body) = 0;  // an object
  virtual void error(const RpcError& error) = 0;
  virtual void ask(Invocation& invocation, InputRequests requests, Json state) = 0;
  virtual void notify(std::string_view method, const Json& params) = 0;
  virtual bool ready() const = 0;  // whether it takes more notifications just now
};

// What is executed, and for whom.
struct InvocationRequest {
  std::shared_ptr<Session> session;
  std::shared_ptr<Reply> reply;
  ClientContext client;
  std::string method;  // "tools/call" or "prompts/get"
  std::string name;    // of the tool or prompt
  Json arguments = Json::object();
  Json progress_token{};            // null: no progress is wanted
  Json meta{};                      // of the request, without what the protocol itself has there; null: nothing
  Json inputs = Json::object();     // the client's answers, by key
  Json state{};                     // as it was left when they were asked for
  const StateSeal* seal = nullptr;  // for state that the client keeps; outlives the invocation
  bool outlives_exchange = false;   // a broken HTTP exchange does not cancel it
};

class Invocation : public std::enable_shared_from_this<Invocation> {
 public:
  Invocation(InvocationRequest request, std::unique_ptr<Requester> requester, InvokeFunction run)
      : request_(std::move(request)), requester_(std::move(requester)), run_(std::move(run)) {}
  Invocation(const Invocation&) = delete;
  Invocation& operator=(const Invocation&) = delete;
  ~Invocation();  // what nobody has ended ends as an internal error

  // Calls the tool. What it throws becomes the error; if that is no RpcError but a fault of ours, it is thrown on, too.
  void run();

  const std::string& name() const { return request_.name; }
  const Json& arguments() const { return request_.arguments; }
  // For a tool that asks for nothing, and so is not called again.
  Json take_arguments() { return std::exchange(request_.arguments, Json::object()); }
  const ClientContext& client() const { return request_.client; }
  const Json& progress_token() const { return request_.progress_token; }
  const InvocationRequest& request() const { return request_; }

  // What the client answered to the request of that key; null if it has not (or has not been asked).
  const Json* input(std::string_view key) const;
  const Json& state() const { return request_.state; }

  // Before the end; afterwards, and for clients that do not want them, they do nothing. Log messages are dropped, too,
  // while the client has not read what was sent before.
  void progress(double done, std::optional<double> total, std::string_view message);
  void notify(std::string_view method, const Json& params);
  void log(Severity level, std::string_view logger, const Json& data);
  bool ready() const { return requester_->ready(); }
  // Lets an HTTP client's event stream end, so that it comes back for the rest after `pause`; on other transports, and
  // for clients that could not resume, nothing happens.
  void release_stream(std::chrono::milliseconds pause);

  // The end: exactly one of these. A body that is no object is told as an error of the server.
  void result(Json body);
  void error(const RpcError& error);
  // The tool is called again when the client has answered. An answer that the client does not give (an error) ends the
  // invocation. Throws RpcError if the client cannot be asked. Without requests the tool may be called again from
  // inside this function.
  void ask(InputRequests requests, Json state = nullptr);

  // Whether the client can answer such a request, and there is a way to ask it.
  bool can_ask(std::string_view method) const;

  // `action` is called once if the client cancels before the end. Whatever is said afterwards is dropped.
  void on_cancelled(std::function<void()> action);
  // Adds an action that is called once at the end: after the result, an error, or the client's cancelling. From then on
  // the invocation counts as a request in progress, as with on_cancelled(). After the end this does nothing.
  void when_ended(std::function<void()> action);
  bool ended() const { return ended_; }

  // For the era: the tool is to be called again, with these answers.
  void run_again(Json inputs, Json state);

 private:
  bool can_be_asked() const;
  void register_for_cancelling();
  void finish();

  InvocationRequest request_;
  const std::unique_ptr<Requester> requester_;
  const InvokeFunction run_;
  std::optional<Session::Key> registered_;
  std::function<void()> cancelled_;
  std::vector<std::function<void()>> when_ended_;
  bool ended_ = false;
};

// The arguments as a tool's input_schema describes them: without what the schema does not know, without nulls, and with
// defaults; 5.0 is an integer. Throws InvalidParams with the path of what is wrong. For the part of JSON Schema that
// tools use: an object with properties of type string, integer, number or boolean, and of them required, enum,
// minLength, maxLength, minimum, maximum and default.
Json checked_arguments(const Json& schema, const Json& arguments);

}  // namespace rkllm_mcp::mcp
