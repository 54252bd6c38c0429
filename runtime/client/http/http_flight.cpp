#include "client/http/http_flight.hpp"

#include "jsonrpc/bounded_json.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <thread>
#include <utility>

namespace rkllm_mcp::client {
namespace {

constexpr std::chrono::milliseconds kToDie{200};

}  // namespace

HttpFlight::HttpFlight(HttpServerState& server, Inbox& inbox, std::unique_ptr<HttpRoundTrip> trip, MessageFacts facts,
                       std::string message, Callbacks callbacks)
    : server_(server),
      inbox_(inbox),
      trip_(std::move(trip)),
      facts_(std::move(facts)),
      message_(std::move(message)),
      unanswered_(facts_.requests),
      callbacks_(std::move(callbacks)),
      events_(server, *trip_, [this](std::string event) { deliver(std::move(event)); }) {}

std::unique_ptr<HttpRoundTrip> HttpFlight::take_reusable_trip() { return is_reusable_ ? std::move(trip_) : nullptr; }

void HttpFlight::run() {
  try {
    ask();
  } catch (const std::exception& error) {  // this side has no memory for the answer
    is_reusable_ = false;
    if (is_answered()) throw;  // nobody else can be told
    refuse_all(error.what());
  }
}

void HttpFlight::ask() {
  const auto end = trip_->run(
      server_.post(facts_, message_), [this](const HttpHead& head) { return take_head(head); },
      [this](std::string_view bytes) { return take_bytes(bytes); });
  switch (end) {
    case HttpRoundTrip::End::kStopped: return end_stopped();
    case HttpRoundTrip::End::kNoConnection:
      if (callbacks_.has_company()) return refuse_all(trip_->complaint());
      return inbox_.fail(loss());
    case HttpRoundTrip::End::kComplete:
      is_reusable_ = true;
      if (head_.media_type != "text/event-stream" || !was_accepted()) return take_body();
      break;
    case HttpRoundTrip::End::kBroken: break;
  }
  if (is_answered()) return;
  if (!facts_.is_modern() && events_.is_resumable()) return resume();
  end_broken();
}

Loss HttpFlight::loss() const {
  try {
    trip_->require_reachable(server_.url());
  } catch (const ConnectionError& error) {
    return Loss(error);
  }
  return Loss(server_.url() + ": " + trip_->complaint());
}

bool HttpFlight::take_head(const HttpHead& head) {
  head_ = head;
  if (facts_.method == "initialize" && was_accepted()) server_.take_id(head.session);
  settle_if_answered();
  return true;
}

void HttpFlight::settle_if_answered() {
  if (is_answered() && !std::exchange(is_settled_, true)) callbacks_.on_settled();
}

bool HttpFlight::take_bytes(std::string_view bytes) {
  if (head_.media_type == "text/event-stream" && was_accepted()) return events_.feed(bytes);
  body_ += bytes;
  return body_.size() <= kLongestMessage;
}

void HttpFlight::deliver(std::string message) {
  message = on_one_line(std::move(message));
  const std::vector<Json> answers = facts_of(message).answers;
  const auto is_awaited = [this](const Json& id) { return std::ranges::find(unanswered_, id) != unanswered_.end(); };
  if (std::ranges::any_of(answers, is_awaited)) {
    if (facts_.method == "initialize") server_.take_revision(message);
    if (facts_.method == "tools/list" && facts_.is_modern()) server_.take_tools(message);
  }
  inbox_.put(std::move(message));
  for (const Json& id : answers) std::erase(unanswered_, id);  // not before: all above may throw for want of memory
  settle_if_answered();
}

void HttpFlight::take_body() {
  if (!was_accepted()) return take_refusal();
  const bool is_empty = body_.empty();
  if (parse_bounded(body_)) deliver(std::move(body_));
  if (is_answered()) return;
  refuse_all(is_empty ? "the server has taken the request but does not answer it" : "the answer is not as expected");
}

// An error that the server has put into JSON-RPC is its answer, to whichever request it names.
void HttpFlight::take_refusal() {
  if (head_.status == 401) {
    const char* const why = server_.has_token() ? "the server refuses the access token" : "an access token is needed";
    return inbox_.fail(Loss(TokenRefused(server_.url() + ": " + why + " (HTTP status 401)")));
  }
  if (head_.status == 404 && !facts_.is_modern() && facts_.method != "initialize" && server_.has_id()) {
    return inbox_.fail(server_.url() + ": the server has ended the session (HTTP status 404); connect again");
  }
  Json refusal = parse_bounded(body_).value_or(nullptr);
  const bool is_error = refusal.is_object() && refusal.contains("error") && refusal["error"].is_object();
  if (!is_error) return refuse_all("HTTP status " + std::to_string(head_.status));
  const bool is_addressed = refusal.contains("id") && !refusal["id"].is_null();
  if (is_addressed || (facts_.requests.empty() && facts_.method.empty())) {
    deliver(std::move(body_));
  } else {
    answer_rest([&refusal](const Json& id) {
      refusal["id"] = id;
      return refusal.dump();
    });
  }
  if (!is_answered()) refuse_all("HTTP status " + std::to_string(head_.status));
}

void HttpFlight::resume() {
  is_reusable_ = false;
  if (!events_.pause()) return;
  switch (events_.follow([this] { return is_answered(); })) {
    case EventSource::End::kDone: return;
    case EventSource::End::kStopped: return end_stopped();
    case EventSource::End::kRefused:
      return refuse_all("the response broke off, and the server does not resume it (HTTP status " +
                        std::to_string(events_.status()) + ")");
    case EventSource::End::kGone: return inbox_.fail(server_.url() + ": the server has gone away");
  }
}

// Called after stop(), when nobody expects an answer any more, and also when the answer is too long.
void HttpFlight::end_stopped() {
  if (events_.is_too_long() || body_.size() > kLongestMessage) refuse_all(kTooLong);
}

void HttpFlight::end_broken() {
  // A process that dies may close its connections before the socket that it listens on.
  if (server_.is_reachable()) std::this_thread::sleep_for(kToDie);
  if (!server_.is_reachable()) return inbox_.fail(server_.url() + ": the server has gone away");
  refuse_all("the response ended before the answer" +
             (trip_->complaint().empty() ? std::string() : ": " + trip_->complaint()));
}

void HttpFlight::refuse_all(const std::string& complaint) {
  const Json data = {{"url", server_.url()}, {"status", head_.status}};
  const std::string words = server_.url() + ": " + complaint;
  answer_rest([&](const Json& id) { return error_in_place(id, words, data); });
}

// A request that this fails at, for want of memory, still counts as unanswered.
void HttpFlight::answer_rest(const std::function<std::string(const Json& id)>& answer) {
  while (!unanswered_.empty()) {
    inbox_.put(answer(unanswered_.front()));
    unanswered_.erase(unanswered_.begin());
  }
}

}  // namespace rkllm_mcp::client
