#include "upstreams/upstream_link.hpp"

#include "run_loop.hpp"
#include "upstreams/offered.hpp"
#include "upstreams/offered_watch.hpp"
#include "upstreams/upstream_document.hpp"
#include "version.hpp"

#include <asio/post.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <new>
#include <string_view>
#include <variant>

namespace rkllm_mcp {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kUpstreamPatience{10'000};  // to connect, and to be greeted
constexpr std::size_t kMostJobs = 256;             // that wait, with the arguments of their calls, for a slow server

client::Outcome no_answer(const std::string& reason) {
  return client::RemoteError{client::kInternalError, reason, nullptr, true};
}

bool has_too_many_values(const Json& value) {
  std::size_t left = kMostUpstreamValues;
  return !are_values_within(left, value);
}

// Not called on the loop, so that an answer with too many values is not destroyed there.
client::Outcome bounded(client::Outcome outcome) {
  const auto* const error = std::get_if<client::RemoteError>(&outcome);
  if (!has_too_many_values(error == nullptr ? std::get<Json>(outcome) : error->data)) return outcome;
  return no_answer("sent an answer of more than " + std::to_string(kMostUpstreamValues) + " values");
}

// The words of `error`, or some that are short enough for a string that needs no memory.
std::string words_of(const std::exception& error) {
  try {
    return error.what();
  } catch (const std::bad_alloc&) {
    return "no memory";
  }
}

}  // namespace

void UpstreamLink::start() {
  thread_ = std::thread([self = shared_from_this()] { self->run(); });
}

void UpstreamLink::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
  }
  connection_stop_.stop();
}

void UpstreamLink::await_end(Clock::time_point deadline) {
  if (!thread_.joinable()) return;
  std::unique_lock lock(mutex_);
  const bool has_ended = wake_.wait_until(lock, deadline, [this] { return ended_; });
  lock.unlock();
  has_ended ? thread_.join() : thread_.detach();
}

bool UpstreamLink::is_stopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void UpstreamLink::run() {
  Backoff backoff;
  Clock::time_point began;
  do {
    began = Clock::now();
    std::string reason;
    try {
      serve_connection();
    } catch (const std::exception& error) {
      reason = words_of(error);
    }
    ids_.clear();
    bring_loss(reason);
  } while (rest(backoff.after(Clock::now() - began)));
  const std::lock_guard lock(mutex_);
  jobs_.clear();  // they hold this
  ended_ = true;
  wake_.notify_all();
}

// Calls in progress end by it, and nothing else would end them: so this tries until there is memory for the message.
void UpstreamLink::bring_loss(const std::string& reason) {
  constexpr milliseconds kBetweenTries{10};
  while (!is_stopping()) {
    try {
      return bring([reason](const Events& events) { events.on_lost(reason); });
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(kBetweenTries);
    }
  }
}

// Never returns: throws when the connection ends.
void UpstreamLink::serve_connection() {
  {
    const std::lock_guard lock(mutex_);
    lost_.reset();
    changes_.clear();
    questions_.clear();
  }
  client::McpClient::Events events;
  events.on_notification = [self = shared_from_this()](const std::string& method, const Json& params) {
    self->take_notification(method, params);
  };
  events.on_lost = [self = shared_from_this()](const std::string& reason) {
    const std::lock_guard lock(self->mutex_);
    try {
      self->lost_ = reason;
    } catch (const std::bad_alloc&) {
      self->lost_ = "no memory";  // short enough for a string that needs none
    }
    self->wake_.notify_all();
  };
  events.on_request = [self = shared_from_this()](const Json& id, const std::string& method, const Json& params) {
    return self->take_question(id, method, params);
  };
  client::Introduction introduction;
  if (events_.on_question) introduction.capabilities = {{"sampling", Json::object()}, {"elicitation", Json::object()}};
  introduction.client_info = {{"name", "rkllm-mcp"}, {"version", kProgramVersion}};
  introduction.patience = kUpstreamPatience;
  client::McpClient client(
      std::make_unique<StoppableConnection>(connection_stop_, connect_(Clock::now() + kUpstreamPatience)), introduction,
      events);
  std::vector<std::shared_ptr<OfferedWatch>> watches;
  for (const Offered kind : {Offered::kTools, Offered::kResources, Offered::kTemplates, Offered::kPrompts}) {
    OfferedWatch::Events news;
    const auto warn = [this](const std::string& warning) {
      bring([warning](const Events& loops) { loops.on_warning(warning); });
    };
    news.on_list = [this, kind, warn](std::vector<Json> list) {
      const std::size_t dropped = kind == Offered::kTools ? 0 : drop_unservable(kind, list);
      if (dropped > 0) {
        warn(std::to_string(dropped) + " of the " + list_of(kind).member +
             " are left out: malformed, too long, or from too many servers away");
      }
      bring([kind, list = std::move(list)](const Events& loops) mutable {
        if (kind == Offered::kTools) return loops.on_tools(std::move(list));
        if (loops.on_list) loops.on_list(kind, std::move(list));
      });
    };
    news.on_warning = warn;
    news.post = [self = shared_from_this()](std::function<void()> function) {
      self->add_job([function = std::move(function)](client::McpClient* connected) {
        if (connected != nullptr) function();
      });
    };
    watches.push_back(std::make_shared<OfferedWatch>(client, std::move(news), kind));
  }
  want_logs(client);
  for (;;) {
    auto due = Clock::time_point::max();
    for (const auto& watch : watches) {
      watch->work();
      due = std::min(due, watch->due());
    }
    std::set<std::string> changes;
    if (const Job job = next_job(due, changes)) job(&client);
    for (const auto& watch : watches) {
      if (changes.contains(watch->notification())) watch->note_change();
    }
  }
}

// On the client's reading thread. Log messages that come faster than the loop takes them are dropped.
void UpstreamLink::take_notification(const std::string& method, const Json& params) {
  constexpr int kMostLogs = 100;
  constexpr std::size_t kLongestLog = std::size_t{64} << 10U;  // bytes, as JSON
  if (method == "notifications/message") {
    if (!events_.on_log || params.dump(-1, ' ', false, Json::error_handler_t::replace).size() > kLongestLog) return;
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    post_unless_many(loop_, waiting_logs_, kMostLogs, [&] {
      return [self = shared_from_this(), params] {
        if (!self->is_stopping()) self->events_.on_log(params);
      };
    });
    return;
  }
  if (!method.ends_with("/list_changed")) return;
  const std::lock_guard lock(mutex_);
  if (changes_.size() < 4) changes_.insert(method);  // there are no more kinds
  wake_.notify_all();
}

// On the client's reading thread.
bool UpstreamLink::take_question(const Json& id, const std::string& method, const Json& params) {
  constexpr std::size_t kMostQuestions = 16;
  if (!events_.on_question || (method != "sampling/createMessage" && method != "elicitation/create")) return false;
  Key question = 0;
  {
    const std::lock_guard lock(mutex_);
    if (questions_.size() >= kMostQuestions) return false;
    question = next_question_++;
    questions_.emplace(question, id);
  }
  if (has_too_many_values(params)) {
    respond(question, no_answer("asks with more than " + std::to_string(kMostUpstreamValues) + " values"));
    return true;
  }
  bring([question, method, params](const Events& loops) { loops.on_question(question, method, params); });
  return true;
}

void UpstreamLink::respond(Key question, client::Outcome outcome) {
  add_job([self = shared_from_this(), question, outcome = std::move(outcome)](client::McpClient* client) {
    Json id;
    {
      const std::lock_guard lock(self->mutex_);
      const auto found = self->questions_.find(question);
      if (found == self->questions_.end()) return;  // of a connection that was lost
      id = std::move(found->second);
      self->questions_.erase(found);
    }
    if (client != nullptr) client->respond(id, outcome);
  });
}

// Asks a server with a handshake for its log, once for the connection: our clients choose by themselves what they hear.
void UpstreamLink::want_logs(client::McpClient& client) {
  const auto& server = client.server();
  if (!events_.on_log || !server.has_handshake || !server.capabilities.contains("logging")) return;
  client.request("logging/setLevel", {{"level", "debug"}}, {.on_end = [](const client::Outcome&) {}});
}

UpstreamLink::Job UpstreamLink::next_job(Clock::time_point due, std::set<std::string>& changes) {
  std::unique_lock lock(mutex_);
  const auto is_wanted = [this] { return stopping_ || lost_ || !changes_.empty() || !jobs_.empty(); };
  if (due == Clock::time_point::max()) {
    wake_.wait(lock, is_wanted);
  } else {
    wake_.wait_until(lock, due, is_wanted);
  }
  if (stopping_ || lost_) throw client::ConnectionError(lost_.value_or("this server is ending"));
  changes = std::exchange(changes_, {});
  if (jobs_.empty()) return nullptr;
  Job job = std::move(jobs_.front().work);
  jobs_.pop_front();
  return job;
}

void UpstreamLink::add_job(Job job, std::optional<Key> request) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  jobs_.push_back({request, std::move(job)});
  wake_.notify_all();
}

bool UpstreamLink::is_behind() {
  const std::lock_guard lock(mutex_);
  return jobs_.size() >= kMostJobs;
}

bool UpstreamLink::rest(milliseconds pause) {
  const auto until = Clock::now() + pause;
  for (;;) {
    std::unique_lock lock(mutex_);
    wake_.wait_until(lock, until, [this] { return stopping_ || !jobs_.empty(); });
    if (stopping_) return false;
    if (jobs_.empty()) return true;
    const Job job = std::move(jobs_.front().work);
    jobs_.pop_front();
    lock.unlock();
    try {
      job(nullptr);
    } catch (const std::exception& error) {
      bring_loss(words_of(error));  // the job's call has to end
    }
  }
}

void UpstreamLink::bring(std::function<void(const Events& events)> news) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  asio::post(loop_, [self = shared_from_this(), news = std::move(news)] {
    if (!self->is_stopping()) news(self->events_);
  });
}

void UpstreamLink::add_progress(Key key, UnsentProgress::Messages messages, const Json& params) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  if (progress_.empty()) asio::post(loop_, [self = shared_from_this()] { self->bring_progress(); });
  progress_.try_emplace(key, messages).first->second.add(params);
}

void UpstreamLink::bring_progress() {
  std::map<Key, UnsentProgress> progress;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    progress.swap(progress_);
  }
  for (auto& [key, unsent] : progress) {
    if (!unsent.empty()) events_.on_progress(key, unsent.take());
  }
}

void UpstreamLink::call(Call call) {
  Json params{{"name", std::move(call.tool)}, {"arguments", std::move(call.arguments)}};
  if (call.meta.is_object()) params["_meta"] = std::move(call.meta);
  params.update(call.more);
  add_job([self = shared_from_this(), key = call.key, progress = call.progress, params = std::move(params)](
              client::McpClient* client) { self->make_request(client, key, "tools/call", params, progress); },
          call.key);
}

void UpstreamLink::ask(Key key, const std::string& method, const Json& params) {
  add_job([self = shared_from_this(), key, method,
           params](client::McpClient* client) { self->make_request(client, key, method, params, std::nullopt); },
          key);
}

void UpstreamLink::make_request(client::McpClient* client, Key key, const std::string& method, const Json& params,
                                std::optional<UnsentProgress::Messages> progress) {
  const auto end = [self = shared_from_this(), key](client::Outcome outcome) {
    self->bring([key, outcome = bounded(std::move(outcome))](const Events& events) mutable {
      events.on_end(key, std::move(outcome));
    });
  };
  if (client == nullptr) return end(no_answer("there is no connection"));
  client::McpClient::Callbacks callbacks;
  callbacks.on_end = end;
  if (progress) {
    callbacks.on_progress = [self = shared_from_this(), key, messages = *progress](const Json& update) {
      self->add_progress(key, messages, update);
    };
  }
  try {
    ids_[key] = client->request(method, params, callbacks);
  } catch (const std::exception& error) {
    end(no_answer(error.what()));
  }
}

// Does nothing if the call has ended meanwhile. (Its id is kept until then, or until the connection ends.)
void UpstreamLink::cancel(Key key) {
  WaitingJob unsent;  // destroyed without the lock
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(jobs_, std::optional(key), &WaitingJob::request);
    if (found != jobs_.end()) {
      unsent = std::move(*found);
      jobs_.erase(found);
      return;
    }
  }
  add_job([self = shared_from_this(), key](client::McpClient* client) {
    const auto found = self->ids_.find(key);
    if (found == self->ids_.end()) return;
    if (client != nullptr) client->cancel(found->second, "cancelled");
    self->ids_.erase(found);
  });
}

}  // namespace rkllm_mcp
