#include "upstreams/upstream_link.hpp"

#include "upstreams/tool_watch.hpp"
#include "version.hpp"

#include <asio/post.hpp>

#include <algorithm>
#include <exception>
#include <string_view>

namespace rkllm_mcp {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{250};
constexpr milliseconds kLongestPause{30'000};
constexpr milliseconds kUpstreamPatience{10'000};  // to connect, and to be greeted

client::Outcome no_connection(const std::string& reason) {
  return client::RemoteError{client::kInternalError, reason, nullptr, true};
}

}  // namespace

// A connection within reach of stop().
class UpstreamLink::Line final : public client::Connection {
 public:
  Line(UpstreamLink& link, std::unique_ptr<Connection> connection) : link_(link), connection_(std::move(connection)) {
    const std::lock_guard lock(link_.mutex_);
    if (link_.stopping_) throw client::ConnectionError("this server is ending");
    link_.line_ = this;
  }
  ~Line() override {
    const std::lock_guard lock(link_.mutex_);
    link_.line_ = nullptr;
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  void send(std::string_view message) override { connection_->send(message); }
  std::optional<std::string> receive(client::Deadline deadline) override { return connection_->receive(deadline); }
  bool reliable() const override { return connection_->reliable(); }
  void interrupt() override { connection_->interrupt(); }

 private:
  UpstreamLink& link_;
  const std::unique_ptr<Connection> connection_;
};

std::shared_ptr<UpstreamLink> UpstreamLink::start(asio::io_context& loop, Connect connect, Events events) {
  const auto link = std::make_shared<UpstreamLink>(loop, std::move(connect), std::move(events));
  link->thread_ = std::thread([link] { link->run(); });
  return link;
}

void UpstreamLink::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  if (line_ != nullptr) line_->interrupt();
  wake_.notify_all();
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
  auto pause = kFirstPause;
  do {
    const auto began = Clock::now();
    std::string reason = "the connection was lost";
    try {
      serve_connection();
    } catch (const std::exception& error) {
      reason = error.what();
    }
    ids_.clear();
    bring([reason](const Events& events) { events.on_lost(reason); });
    const bool was_well = Clock::now() - began > kLongestPause;
    pause = was_well ? kFirstPause : std::min(2 * pause, kLongestPause);
  } while (rest(pause));
  const std::lock_guard lock(mutex_);
  jobs_.clear();  // they hold this
  ended_ = true;
  wake_.notify_all();
}

// Returns by an exception only.
void UpstreamLink::serve_connection() {
  {
    const std::lock_guard lock(mutex_);
    lost_.reset();
    tools_changed_ = false;
  }
  client::McpClient::Events events;
  events.on_notification = [self = shared_from_this()](const std::string& method, const Json&) {
    if (method != "notifications/tools/list_changed") return;
    const std::lock_guard lock(self->mutex_);
    self->tools_changed_ = true;
    self->wake_.notify_all();
  };
  events.on_lost = [self = shared_from_this()](const std::string& reason) {
    const std::lock_guard lock(self->mutex_);
    self->lost_ = reason;
    self->wake_.notify_all();
  };
  client::Introduction introduction;
  introduction.client_info = {{"name", "rkllm-mcp"}, {"version", kProgramVersion}};
  introduction.patience = kUpstreamPatience;
  client::McpClient client(std::make_unique<Line>(*this, connect_(Clock::now() + kUpstreamPatience)), introduction,
                           events);
  const auto watch = std::make_shared<ToolWatch>(
      client, ToolWatch::Events{.on_tools =
                                    [this](std::vector<Json> tools) {
                                      bring([tools = std::move(tools)](const Events& loops) { loops.on_tools(tools); });
                                    },
                                .on_warning =
                                    [this](const std::string& warning) {
                                      bring([warning](const Events& loops) { loops.on_warning(warning); });
                                    },
                                .post =
                                    [self = shared_from_this()](std::function<void()> function) {
                                      self->add_job([function = std::move(function)](client::McpClient* connected) {
                                        if (connected != nullptr) function();
                                      });
                                    }});
  for (;;) {
    watch->work();
    bool has_changed = false;
    if (const Job job = next_job(watch->due(), has_changed)) job(&client);
    if (has_changed) watch->note_change();
  }
}

UpstreamLink::Job UpstreamLink::next_job(Clock::time_point due, bool& has_changed) {
  std::unique_lock lock(mutex_);
  const auto is_wanted = [this] { return stopping_ || lost_ || tools_changed_ || !jobs_.empty(); };
  if (due == Clock::time_point::max()) {
    wake_.wait(lock, is_wanted);
  } else {
    wake_.wait_until(lock, due, is_wanted);
  }
  if (stopping_ || lost_) throw client::ConnectionError(lost_.value_or("this server is ending"));
  has_changed = std::exchange(tools_changed_, false);
  if (jobs_.empty()) return nullptr;
  Job job = std::move(jobs_.front());
  jobs_.pop_front();
  return job;
}

void UpstreamLink::add_job(Job job) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  jobs_.push_back(std::move(job));
  wake_.notify_all();
}

bool UpstreamLink::rest(milliseconds pause) {
  const auto until = Clock::now() + pause;
  for (;;) {
    std::unique_lock lock(mutex_);
    wake_.wait_until(lock, until, [this] { return stopping_ || !jobs_.empty(); });
    if (stopping_) return false;
    if (jobs_.empty()) return true;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job(nullptr);
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
  const bool is_first = progress_.empty();
  progress_.try_emplace(key, messages).first->second.add(params);
  if (is_first) asio::post(loop_, [self = shared_from_this()] { self->bring_progress(); });
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
  add_job([self = shared_from_this(), call = std::move(call)](client::McpClient* client) {
    self->make_call(client, call);
  });
}

void UpstreamLink::make_call(client::McpClient* client, const Call& call) {
  const auto end = [self = shared_from_this(), key = call.key](client::Outcome outcome) {
    self->bring([key, outcome = std::move(outcome)](const Events& events) { events.on_end(key, outcome); });
  };
  if (client == nullptr) return end(no_connection("there is no connection"));
  client::McpClient::Callbacks callbacks;
  callbacks.on_end = end;
  if (call.progress) {
    callbacks.on_progress = [self = shared_from_this(), key = call.key, messages = *call.progress](
                                const Json& progress) { self->add_progress(key, messages, progress); };
  }
  try {
    ids_[call.key] = client->request("tools/call", {{"name", call.tool}, {"arguments", call.arguments}}, callbacks);
  } catch (const std::exception& error) {
    end(no_connection(error.what()));
  }
}

// Of a call that has ended meanwhile nothing happens. (Its id is kept until the connection ends, or until here.)
void UpstreamLink::cancel(Key key) {
  add_job([self = shared_from_this(), key](client::McpClient* client) {
    const auto found = self->ids_.find(key);
    if (found == self->ids_.end()) return;
    if (client != nullptr) client->cancel(found->second, "cancelled");
    self->ids_.erase(found);
  });
}

}  // namespace rkllm_mcp
