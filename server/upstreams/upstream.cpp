#include "upstreams/upstream.hpp"

#include "faults.hpp"
#include "json_members.hpp"
#include "mcp/catalogue.hpp"
#include "mcp/protocol/agreed_names.hpp"
#include "mcp/protocol/era.hpp"
#include "upstreams/upstream_document.hpp"
#include "upstreams/upstream_tool.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <utility>
#include <variant>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kMostUnsentBytes = std::size_t{8} << 20U;  // of one call's progress
constexpr std::chrono::minutes kToComeAgain{2};                  // for a client without a handshake that was asked
constexpr std::chrono::minutes kToRead{2};                       // for a server, that a call was cancelled
constexpr std::size_t kMostAsked = 64;                           // of a client at once
constexpr const char* kAnswer = "upstream";                      // key of what a client is asked
constexpr int kNoSuchResource = -32002;                          // of servers with a handshake
constexpr std::size_t kMostNamed = 10;                           // of the tools that are left out

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t each = 0; each < std::min(parts.size(), kMostNamed); ++each)
    text += (each == 0 ? "" : "; ") + parts[each];
  return parts.size() > kMostNamed ? text + "; ..." : text;
}

UnsentProgress::Messages messages_of(const Json& arguments) {
  const auto choice = arguments.find("progress_message");
  return choice != arguments.end() && *choice == "delta" ? UnsentProgress::Messages::kJoin
                                                         : UnsentProgress::Messages::kNewestCounts;
}

client::RemoteError refusal(const std::string& reason) { return {client::kMethodNotFound, reason, nullptr}; }

// What our client can do, of what a server may ask for.
Json capabilities_of(const mcp::ClientContext& client) {
  Json capabilities = Json::object();
  for (const char* const name : {"sampling", "elicitation"}) {
    if (client.can(name)) capabilities[name] = client.capabilities[name];
  }
  return capabilities;
}

// The request of a client without a handshake ends when it is asked; the answer comes with another request.
bool comes_again(const mcp::Invocation& asked) { return !asked.client().revision->era.has_handshake(); }

// Whether both calls are of the same client. `one` is in progress.
bool is_same_client(const mcp::Invocation& one, const mcp::Invocation& other) {
  const Session& session = *one.request().session;
  const Session& others = *other.request().session;
  if (!other.ended()) return &session == &others && !session.shared();
  // The request of `other` has ended with a question to its client, who may answer it in another session.
  return session.principal == others.principal &&
         host_of(one.request().reply->peer().facts().address) == host_of(other.request().reply->peer().facts().address);
}

bool wants_input(const Json& result) {
  const auto type = result.is_object() ? result.find("resultType") : result.end();
  return type != result.end() && *type == "input_required";
}

}  // namespace

Upstream::Upstream(asio::io_context& loop, std::string name, std::string address, UpstreamLink::Connect connect,
                   spdlog::logger& log, Events events, ToolFilter filter)
    : name_(std::move(name)),
      address_(std::move(address)),
      filter_(std::move(filter)),
      log_(log),
      events_(std::move(events)),
      abandoned_(loop, [this] { let_go_of_abandoned(); }),
      link_(std::make_shared<UpstreamLink>(
          loop, std::move(connect),
          UpstreamLink::Events{
              .on_tools = [this](std::vector<Json> tools) { take_tools(std::move(tools)); },
              .on_lost = [this](const std::string& reason) { lose(reason); },
              .on_warning = [this](const std::string& warning) { warn(warning); },
              .on_progress = [this](UpstreamLink::Key key, const Json& progress) { take_progress(key, progress); },
              .on_end = [this](UpstreamLink::Key key, client::Outcome outcome) { take_end(key, std::move(outcome)); },
              .on_list = [this](Offered kind, std::vector<Json> list) { take_list(kind, std::move(list)); },
              .on_log = [this](const Json& params) { take_log(params); },
              .on_question = [this](UpstreamLink::Key question, const std::string& method,
                                    const Json& params) { take_question(question, method, params); }})) {
  link_->start();
}

Upstream::~Upstream() {
  stop();
  await_end(Clock::now());
}

void Upstream::refuse(const Running& running, const std::string& reason) const {
  const RpcError error = runtime_unavailable("upstream " + name_ + ": " + reason);
  if (running.kind == Offered::kTools) return running.invocation->result(mcp::tool_error(error));
  running.invocation->error(error);
}

Json Upstream::status() const {
  return Json{{address_.find("://") == std::string::npos ? "command" : "url", address_},
              {"connected", reason_.empty()},
              {"tools", tools_.size()},
              {"reason", reason_.empty() ? Json(nullptr) : Json(reason_)}};
}

void Upstream::take_tools(std::vector<Json> tools) {
  auto [served, left_out] = sort_tools(name_, std::move(tools), filter_);
  const bool was_connected = std::exchange(reason_, {}).empty();
  if (left_out != left_out_ && !left_out.empty()) {
    log_.warn("upstream {}: {} tools are left out: {}", name_, left_out.size(), joined(left_out));
  }
  left_out_ = std::move(left_out);
  const bool has_changed = served != tools_;
  if (has_changed || !was_connected) log_.info("upstream {}: {} tools from {}", name_, served.size(), address_);
  if (!has_changed) return;
  tools_ = std::move(served);
  events_.on_changed(Offered::kTools);
}

void Upstream::take_list(Offered kind, std::vector<Json> list) {
  if (kind == Offered::kPrompts) drop_echoes(name_, list);
  auto& known = others_.at(static_cast<std::size_t>(kind));
  if (known == list) return;
  log_.info("upstream {}: {} {}", name_, list.size(), list_of(kind).member);
  known = std::move(list);
  events_.on_changed(kind);
}

void Upstream::take_log(const Json& params) const {
  if (!events_.on_log || !params.is_object() || !params.contains("data")) return;
  const auto level = mcp::severity_named(text_in(params, "level"));
  const std::string logger = for_the_log(text_in(params, "logger"));
  if (level) events_.on_log(*level, logger.empty() ? name_ : name_ + "/" + logger, params["data"]);
}

void Upstream::warn(const std::string& warning) {
  if (warning != std::exchange(warning_, warning)) log_.warn("upstream {}: {}", name_, for_the_log(warning));
}

void Upstream::lose(const std::string& reason) {
  if (reason != reason_) log_.warn("upstream {}: {}", name_, for_the_log(reason));
  reason_ = reason;
  left_out_.clear();
  warning_.clear();
  end_calls(reason);
  unread_cancels_.reset();
  for (const Offered kind : {Offered::kResources, Offered::kTemplates, Offered::kPrompts}) take_list(kind, {});
  if (!std::exchange(tools_, {}).empty()) events_.on_changed(Offered::kTools);
}

void Upstream::end_calls(const std::string& reason) {
  if (!stopped_ && has_fault("the calls of an upstream's tools are kept when its connection is lost")) return;
  for (const auto& [key, running] : std::exchange(calls_, {})) {
    refuse(running, reason);
  }
}

void Upstream::stop() {
  if (std::exchange(stopped_, true)) return;
  reason_ = "the server is ending";
  end_calls(reason_);
  link_->stop();
}

std::optional<UpstreamLink::Key> Upstream::begin(Running running) {
  if (!reason_.empty()) {
    refuse(running, reason_);
    return std::nullopt;
  }
  if (link_->is_behind()) {
    refuse(running, "takes messages more slowly than they come; try again later");
    return std::nullopt;
  }
  let_go_of_abandoned();
  const auto key = next_key_++;
  watch_end(key, *running.invocation);
  calls_.emplace(key, std::move(running));
  return key;
}

// The invocation here has ended before the call there: its client has cancelled it, has refused an answer, or has been
// asked something (see below).
void Upstream::watch_end(UpstreamLink::Key key, mcp::Invocation& invocation) {
  invocation.when_ended([this, alive = alive_.watch(), key, ended = &invocation] {
    if (alive.expired()) return;
    const auto call = calls_.find(key);
    if (call == calls_.end() || call->second.invocation.get() != ended) return;
    if (!call->second.question || !comes_again(*ended)) let_go(call);
  });
}

void Upstream::let_go(Calls::iterator call) {
  if (has_fault("what a client has cancelled goes on at an upstream")) return;
  const bool is_answered = !call->second.question || call->second.end;
  if (!is_answered && !has_fault("an upstream is not told that there will be no answer"))
    link_->respond(*call->second.question, refusal("the client gave no answer"));
  if (!has_fault("another server does not hear that a call is cancelled")) link_->cancel(call->first);
  if (!call->second.end) {
    const auto& session = call->second.invocation->request().session;
    const bool is_anybodys = session->shared() || (unread_cancels_ && unread_cancels_->session.lock() != session);
    if (unread_cancels_) link_->cancel(unread_cancels_->ping);
    unread_cancels_ = {next_key_++, Clock::now(), is_anybodys ? std::weak_ptr<Session>() : session};
    link_->ask(unread_cancels_->ping, "ping", Json::object());
  }
  calls_.erase(call);
}

// The ping is answered, or took too long: the cancellations that were sent before it now count as read there.
void Upstream::take_ping(UpstreamLink::Key key) {
  if (!unread_cancels_ || unread_cancels_->ping != key) return;
  link_->cancel(key);  // it has ended: this only frees its id
  unread_cancels_.reset();
}

// A client that was asked something may never send the answer, and nothing tells us so: after a time it is given up.
void Upstream::let_go_of_abandoned() {
  const auto now = Clock::now();
  auto next = Clock::time_point::max();
  if (unread_cancels_ && now - unread_cancels_->at >= kToRead) take_ping(unread_cancels_->ping);
  for (auto call = calls_.begin(); call != calls_.end();) {
    const auto each = call++;
    if (!each->second.invocation->ended()) continue;
    const auto until = each->second.asked_at + kToComeAgain;
    if (until <= now) {
      let_go(each);
    } else {
      next = std::min(next, until);
    }
  }
  abandoned_.set_at(next);
}

Upstream::Calls::iterator Upstream::whom_to_ask(const std::string& method) {
  const auto newest = std::find_if(calls_.rbegin(), calls_.rend(), [&method](const auto& each) {
    const Running& running = each.second;
    return running.kind == Offered::kTools && !running.question && !running.invocation->ended() &&
           running.invocation->can_ask(method);
  });
  return newest == calls_.rend() ? calls_.end() : std::prev(newest.base());
}

// A server with a handshake does not say which call its question is about. While calls of several clients are in
// progress, or the server may not have heard yet that one was cancelled, no client is asked: the question may show what
// another one's call is about.
void Upstream::take_question(UpstreamLink::Key question, const std::string& method, const Json& params) {
  let_go_of_abandoned();
  const auto about = whom_to_ask(method);
  if (about == calls_.end()) return link_->respond(question, refusal("there is no client that could be asked"));
  const auto invocation = about->second.invocation;
  const auto is_theirs = [&invocation](const auto& each) {
    return each.second.invocation == invocation || is_same_client(*invocation, *each.second.invocation);
  };
  const bool may_be_unread = unread_cancels_ && unread_cancels_->session.lock() != invocation->request().session &&
                             !has_fault("an upstream may ask anybody about a call that was cancelled");
  const bool is_one_client = !may_be_unread && (std::ranges::all_of(calls_, is_theirs) ||
                                                has_fault("an upstream asks whoever has called last"));
  if (!is_one_client) return link_->respond(question, refusal("calls of several clients are in progress"));
  about->second.question = question;
  about->second.asked_at = Clock::now();
  invocation->ask({{kAnswer, method, params.is_object() ? params : Json::object()}},
                  Json{{"upstream", name_}, {"call", about->first}, {"question", question}});
  let_go_of_abandoned();
}

bool Upstream::resume(mcp::Invocation& invocation) {
  const Json& state = invocation.state();
  if (!state.is_object() || state.value("upstream", "") != name_ || !state.contains("call")) return false;
  const auto found = calls_.find(state["call"].get<UpstreamLink::Key>());
  const auto question = state["question"].get<UpstreamLink::Key>();
  const Json* const answer = invocation.input(kAnswer);
  if (found == calls_.end() || found->second.question != question || answer == nullptr) {
    refuse({invocation.shared_from_this(), UnsentProgress(UnsentProgress::Messages::kNewestCounts)},
           "nobody waits for this answer any more");
    return true;
  }
  found->second.question.reset();
  if (std::exchange(found->second.invocation, invocation.shared_from_this()).get() != &invocation)
    watch_end(found->first, invocation);
  if (auto end = std::exchange(found->second.end, std::nullopt)) {
    take_end(found->first, *std::move(end));
  } else {
    const bool is_told = !has_fault("what a client answers does not reach another server");
    link_->respond(question, is_told ? *answer : Json::object());
    if (has_fault("what a client answers reaches another server twice")) link_->respond(question, *answer);
  }
  return true;
}

// A server without a handshake asks by its result, and is called again with the answers.
void Upstream::ask_client(const Running& running, const Json& result) {
  mcp::InputRequests requests;
  const Json asked = result.value("inputRequests", Json::object());
  if (asked.size() > kMostAsked)
    return refuse(running, "asks for more than " + std::to_string(kMostAsked) + " things at once");
  for (const auto& [key, request] : asked.items()) {
    const bool is_request = request.is_object() && request.contains("method") && request["method"].is_string();
    if (!is_request) return refuse(running, "asks for something that is no request");
    requests.push_back({key, request["method"].get<std::string>(), request.value("params", Json::object())});
  }
  try {
    running.invocation->ask(std::move(requests),
                            Json{{"upstream", name_}, {"theirs", result.value("requestState", Json())}});
  } catch (const RpcError& error) {
    running.invocation->error(error);
  }
}

void Upstream::call(const std::string& tool, mcp::Invocation& invocation) {
  if (resume(invocation)) return;
  const auto messages = messages_of(invocation.arguments());
  const auto key = begin({invocation.shared_from_this(), UnsentProgress(messages)});
  if (!key) return;
  UpstreamLink::Call call{*key, tool, invocation.arguments(), std::nullopt, invocation.request().meta};
  if (const auto level = invocation.client().log_level) call.meta[mcp::kMetaLogLevel] = name_of(*level);
  if (!invocation.progress_token().is_null()) call.progress = messages;
  if (Json able = capabilities_of(invocation.client()); !able.empty())
    call.meta[mcp::kMetaCapabilities] = std::move(able);
  if (const Json& state = invocation.state(); state.is_object() && state.value("upstream", "") == name_) {
    const bool is_told = !has_fault("what a client answers does not reach another server");
    call.more = {{"inputResponses", is_told ? invocation.request().inputs : Json::object()}};
    if (!state["theirs"].is_null() && !has_fault("what another server wants to have back does not reach it"))
      call.more["requestState"] = state["theirs"];
  }
  if (has_fault("a call goes to another server twice")) link_->call(call);
  link_->call(std::move(call));
}

void Upstream::ask(Running running, const std::string& method, Json params) {
  const Json& meta = running.invocation->request().meta;
  if (meta.is_object()) params["_meta"] = meta;
  if (const auto key = begin(std::move(running))) link_->ask(*key, method, params);
}

void Upstream::read(const std::string& uri, mcp::Invocation& invocation) {
  ask({invocation.shared_from_this(), UnsentProgress(UnsentProgress::Messages::kNewestCounts), Offered::kResources},
      "resources/read", {{"uri", uri}});
}

void Upstream::get_prompt(const std::string& prompt, mcp::Invocation& invocation) {
  ask({invocation.shared_from_this(), UnsentProgress(UnsentProgress::Messages::kNewestCounts), Offered::kPrompts},
      "prompts/get", {{"name", prompt}, {"arguments", invocation.arguments()}});
}

void Upstream::take_progress(UpstreamLink::Key key, const Json& progress) {
  const auto found = calls_.find(key);
  if (found == calls_.end() || found->second.invocation->progress_token().is_null()) return;
  Running& running = found->second;
  running.progress.add(progress);
  // A client without a session that was asked something hears of progress only when it has come again.
  const bool has_ended = running.invocation->ended() &&
                         !has_fault("what an upstream says while a client without a session is asked is lost");
  if (!has_ended && running.invocation->ready()) return tell(running);
  if (running.progress.message_bytes() <= kMostUnsentBytes) return;
  // Parts of a text must not be lost, and may not be kept without end.
  const auto invocation = running.invocation;
  let_go(found);
  refuse({invocation, UnsentProgress(UnsentProgress::Messages::kNewestCounts)}, "more progress than the client reads");
}

void Upstream::tell(Running& running) {
  Json params{{"progressToken", running.invocation->progress_token()}};
  params.update(running.progress.take());
  if (params["progressToken"].is_null()) return;  // the client has called again, and wants no progress now
  running.invocation->notify("notifications/progress", params);
}

void Upstream::take_end(UpstreamLink::Key key, client::Outcome outcome) {
  const auto found = calls_.find(key);
  if (found == calls_.end()) return take_ping(key);
  // The client was asked in the name of this call, but the other server may need the answer for another call of the
  // same client. So the server is told that no answer comes: that other call must not wait for ever.
  const auto& question = found->second.question;
  if (question) {
    link_->respond(*question, refusal("the call has ended that its client was asked in"));
    if (comes_again(*found->second.invocation)) {
      found->second.end = std::move(outcome);
      return;
    }
  }
  Running running = std::move(found->second);
  calls_.erase(found);
  link_->cancel(key);  // the call has ended: this only frees its id
  if (running.progress.joins() && !running.progress.empty()) tell(running);
  const auto& invocation = running.invocation;
  if (const auto* error = std::get_if<client::RemoteError>(&outcome)) {
    if (error->is_lost) return refuse(running, error->message);
    if (running.kind == Offered::kResources && error->code == kNoSuchResource) {
      return invocation->error(RpcError(ErrorCode::kInvalidParams, error->message, Json{{"uri", invocation->name()}}));
    }
    return invocation->error(RpcError(passed_on_code(error->code), error->message, error->data));
  }
  auto& result = std::get<Json>(outcome);
  if (running.kind == Offered::kTools && wants_input(result)) return ask_client(running, result);
  switch (running.kind) {
    case Offered::kTools:
      if (!is_tool_result(result)) return refuse(running, "sent an answer that is no tool result");
      break;
    case Offered::kPrompts:
      if (!is_prompt(result)) return refuse(running, "sent an answer that is no prompt");
      break;
    case Offered::kResources:
    case Offered::kTemplates:
      if (!is_reading(result)) return refuse(running, "sent an answer that is no document");
      break;
  }
  invocation->result(as_served(name_, std::move(result)));
}

}  // namespace rkllm_mcp
