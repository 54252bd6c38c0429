#include "client/mcp/numbered_requests.hpp"

#include "clock.hpp"
#include "jsonrpc/bounded_json.hpp"
#include "jsonrpc/unread.hpp"

#include <exception>
#include <future>
#include <new>
#include <stdexcept>
#include <utility>

namespace rkllm_mcp::client {
namespace {

constexpr std::chrono::milliseconds kLongestWait{500};  // where interrupt() does nothing

const Json& member(const Json& object, const char* name) {
  static const Json kNull;
  const auto found = object.find(name);
  return found == object.end() ? kNull : *found;
}

int code_of(const Json& code) {
  if (code.is_number_unsigned() && std::in_range<int>(code.get<std::uint64_t>())) return code.get<int>();
  if (code.is_number_integer() && !code.is_number_unsigned() && std::in_range<int>(code.get<std::int64_t>())) {
    return code.get<int>();
  }
  return kInternalError;
}

RemoteError error_of(const Json& error) {
  if (!error.is_object()) return {kInternalError, "the server's error is malformed", error};
  const auto message = error.find("message");
  return {code_of(member(error, "code")),
          message != error.end() && message->is_string() ? message->get<std::string>() : error.dump(),
          error.contains("data") ? error["data"] : Json(nullptr)};
}

}  // namespace

NumberedRequests::NumberedRequests(std::unique_ptr<Connection> connection, Events events)
    : connection_(std::move(connection)), events_(std::move(events)), answerer_([this] { answer(); }) {
  try {
    reader_ = std::thread([this] { read(); });
  } catch (...) {
    end_answering();
    throw;
  }
}

NumberedRequests::~NumberedRequests() {
  closing_ = true;
  connection_->interrupt();
  end_answering();
  reader_.join();
}

void NumberedRequests::end_answering() {
  {
    const std::lock_guard lock(answering_);
    answers_are_over_ = true;
    answers_changed_.notify_all();
  }
  answerer_.join();
}

void NumberedRequests::send(const Json& message) {
  const std::string text = to_text(message);
  const std::lock_guard lock(sending_);
  connection_->send(text);
}

NumberedRequests::Id NumberedRequests::request(const std::string& method, Json params, Callbacks callbacks) {
  Id id = 0;
  {
    const std::lock_guard lock(mutex_);
    if (lost_) lost_->raise();
    id = next_id_++;
    if (callbacks.on_progress) params["_meta"]["progressToken"] = id;
    pending_.emplace(id, Pending{Immutable(std::move(callbacks))});
  }
  try {
    send({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    const bool is_told = pending_.erase(id) == 0;  // the reading thread has ended the request already
    if (dynamic_cast<const ConnectionError*>(&error) != nullptr) connection_->interrupt();
    if (!is_told) throw;
  }
  return id;
}

void NumberedRequests::notify(const std::string& method, const Json& params) {
  send({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
}

void NumberedRequests::cancel(Id id, const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (pending_.erase(id) == 0 || lost_) return;
  }
  Json params = {{"requestId", id}};
  if (!reason.empty()) params["reason"] = reason;
  try {
    notify("notifications/cancelled", params);
  } catch (const ConnectionError&) {
    connection_->interrupt();  // the reading thread tells everybody
  }
}

std::optional<Outcome> NumberedRequests::call(const std::string& method, Json params,
                                              std::chrono::milliseconds patience) {
  // Shared with the callback, which may come while this gives up.
  const auto promise = std::make_shared<std::promise<Outcome>>();
  auto answer = promise->get_future();
  const Id id = request(method, std::move(params),
                        {.on_end = [promise](Outcome outcome) { promise->set_value(std::move(outcome)); }});
  if (answer.wait_for(patience) != std::future_status::ready) {
    cancel(id, "no answer in time");
    return std::nullopt;
  }
  Outcome outcome = answer.get();
  const auto* const error = std::get_if<RemoteError>(&outcome);
  const std::lock_guard lock(mutex_);
  // What the server has said counts, also if it has closed the connection since.
  if (lost_ && error != nullptr && error->is_lost) lost_->raise();
  return outcome;
}

void NumberedRequests::read() {
  Loss loss("there was no memory for what the server has said");  // made while there is memory
  try {
    try {
      while (!closing_) {
        const auto text = connection_->receive(Clock::now() + kLongestWait);
        if (!text) continue;
        const auto message = parse_bounded(*text);
        if (!message) continue;
        if (message->is_array()) {
          for (const Json& element : *message) take(element);
        } else {
          take(*message);
        }
      }
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const ConnectionError& error) {
      loss = Loss(error);
    } catch (const std::exception& error) {
      loss = Loss(error.what());
    }
  } catch (const std::bad_alloc&) {
    // The reason stays the one above: there was no memory for the error's own words, either.
  }
  if (!closing_) lose(std::move(loss));
}

// What is no message is passed over, as hosts do.
void NumberedRequests::take(const Json& message) {
  if (!message.is_object() || closing_) return;
  const bool is_request = message.contains("method") && message["method"].is_string();
  if (!is_request) {
    if (message.contains("result") || message.contains("error")) take_answer(message);
  } else if (message.contains("id")) {
    take_request(message);
  } else if (message["method"] == "notifications/progress") {
    take_progress(member(message, "params"));
  } else if (events_.on_notification) {
    events_.on_notification(message["method"].get<std::string>(), member(message, "params"));
  }
}

void NumberedRequests::take_answer(const Json& message) {
  const Json& id = member(message, "id");
  if (id.is_null() && message.contains("error")) return take_error_without_id(message["error"]);
  if (!id.is_number_integer()) return;
  std::optional<Immutable<Callbacks>> callbacks;
  {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(id.get<Id>());
    if (found == pending_.end()) return;
    callbacks = found->second.callbacks;
    pending_.erase(found);
  }
  if (message.contains("error")) return (*callbacks)->on_end(error_of(message["error"]));
  (*callbacks)->on_end(message["result"]);
}

// The server refuses a message of ours, but does not say which: it may not have been able to read the id.
void NumberedRequests::take_error_without_id(const Json& error) {
  RemoteError remote = error_of(error);
  std::optional<Immutable<Callbacks>> callbacks;
  {
    const std::lock_guard lock(mutex_);
    if (pending_.empty()) return;
    if (pending_.size() > 1) throw ConnectionError("the server has refused a request unnamed: " + remote.message);
    callbacks = pending_.begin()->second.callbacks;
    pending_.clear();
  }
  (*callbacks)->on_end(std::move(remote));
}

void NumberedRequests::take_progress(const Json& params) {
  if (!params.is_object()) return;
  const Json& token = member(params, "progressToken");
  const Json& progress = member(params, "progress");
  if (!token.is_number_integer() || !progress.is_number()) return;
  std::optional<Immutable<Callbacks>> callbacks;
  {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(token.get<Id>());
    if (found == pending_.end()) return;
    auto& last = found->second.progress;
    if (last && progress.get<double>() <= *last) return;  // datagrams come twice, and late
    last = progress.get<double>();
    callbacks = found->second.callbacks;
  }
  if ((*callbacks)->on_progress) (*callbacks)->on_progress(params);
}

void NumberedRequests::take_request(const Json& message) {
  const Json& id = message["id"];
  if (!id.is_string() && !id.is_number()) return;
  {
    const std::lock_guard lock(answering_);
    if (answers_.size() >= kMostAnswers) return;
  }
  const std::string method = message["method"].get<std::string>();
  if (method == "ping") return respond(id, Json::object());
  if (events_.on_request && events_.on_request(id, method, member(message, "params"))) return;
  respond(id, RemoteError{kMethodNotFound, "this client does not serve this request", nullptr});
}

void NumberedRequests::respond(const Json& id, const Outcome& outcome) {
  Json answer = {{"jsonrpc", "2.0"}, {"id", id}};
  if (const auto* error = std::get_if<RemoteError>(&outcome)) {
    answer["error"] = {{"code", error->code}, {"message", error->message}};
    if (!error->data.is_null()) answer["error"]["data"] = error->data;
  } else {
    answer["result"] = std::get<Json>(outcome);
  }
  const std::lock_guard lock(answering_);
  answers_.push_back(std::move(answer));
  answers_changed_.notify_all();
}

void NumberedRequests::answer() {
  std::unique_lock lock(answering_);
  for (;;) {
    answers_changed_.wait(lock, [this] { return answers_are_over_ || !answers_.empty(); });
    if (answers_are_over_) return;
    const Json answer = std::move(answers_.front());
    answers_.pop_front();
    lock.unlock();
    try {
      send(answer);
    } catch (const std::invalid_argument&) {
      // This connection cannot carry the answer: the server gets none.
    } catch (const std::exception&) {
      connection_->interrupt();  // the reading thread tells everybody
    }
    lock.lock();
  }
}

// Nothing is copied but for the callbacks: there may be no memory.
void NumberedRequests::lose(Loss loss) {
  std::map<Id, Pending> pending;
  {
    const std::lock_guard lock(mutex_);
    lost_ = std::move(loss);
    pending = std::exchange(pending_, {});
  }
  const std::string& reason = lost_->reason();  // only this thread ever sets it
  for (auto& [id, each] : pending) {
    try {
      each.callbacks->on_end(RemoteError{kInternalError, reason, nullptr, true});
    } catch (const std::exception&) {
      // There was no memory to take the end in: whoever waits for it learns of the loss from on_lost().
    }
  }
  if (events_.on_lost) events_.on_lost(reason);
}

}  // namespace rkllm_mcp::client
