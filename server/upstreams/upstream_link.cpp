#include "upstreams/upstream_link.hpp"

#include "version.hpp"

#include <asio/post.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <thread>
#include <utility>

namespace rkllm_mcp {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{250};
constexpr milliseconds kLongestPause{30'000};
constexpr milliseconds kUpstreamPatience{10'000};  // to connect, to be greeted, and for each page of a list
constexpr milliseconds kToStop{500};
constexpr std::size_t kMostTools = 1000;

client::Outcome no_connection(const std::string& reason) { return client::RemoteError{client::kInternalError, reason}; }

}  // namespace

std::shared_ptr<UpstreamLink> UpstreamLink::start(asio::io_context& loop, const client::Endpoint& endpoint,
                                                  Events events) {
  const auto link = std::make_shared<UpstreamLink>(loop, endpoint, std::move(events));
  std::thread([link] { link->run(); }).detach();
  return link;
}

void UpstreamLink::stop() {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  wake_.notify_all();
  wake_.wait_for(lock, kToStop, [this] { return ended_; });
}

bool UpstreamLink::is_stopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void UpstreamLink::run() {
  auto pause = kFirstPause;
  do {
    const auto began = std::chrono::steady_clock::now();
    std::string reason = "the connection was lost";
    try {
      serve_connection();
    } catch (const std::exception& error) {
      reason = error.what();
    }
    ids_.clear();
    bring([reason](const Events& events) { events.on_lost(reason); });
    const bool was_well = std::chrono::steady_clock::now() - began > kLongestPause;
    pause = was_well ? kFirstPause : std::min(2 * pause, kLongestPause);
  } while (rest(pause));
  const std::lock_guard lock(mutex_);
  ended_ = true;
  wake_.notify_all();
}

void UpstreamLink::serve_connection() {
  const auto lost = std::make_shared<std::atomic<bool>>(false);
  client::McpClient::Events events;
  events.on_notification = [self = shared_from_this()](const std::string& method, const Json&) {
    if (method != "notifications/tools/list_changed") return;
    self->add_job([self](client::McpClient* client) {
      if (client != nullptr) self->list_tools(*client);
    });
  };
  events.on_lost = [self = shared_from_this(), lost](const std::string&) {
    *lost = true;
    self->wake_.notify_all();
  };
  client::Introduction introduction;
  introduction.client_info = {{"name", "rkllm-mcp"}, {"version", kProgramVersion}};
  introduction.patience = kUpstreamPatience;
  client::McpClient client(client::connect_mcp(endpoint_, std::chrono::steady_clock::now() + kUpstreamPatience), introduction,
                           events);
  if (client.server().era == client::Era::kModern) {
    client.request("subscriptions/listen", Json{{"notifications", {{"toolsListChanged", true}}}},
                   {.on_end = [](const client::Outcome&) {}});
  }
  list_tools(client);
  while (const Job job = next_job(*lost)) job(&client);
}

void UpstreamLink::list_tools(client::McpClient& client) {
  auto tools = client.list(client::McpClient::List::kTools, kUpstreamPatience);
  if (tools.size() > kMostTools) tools.resize(kMostTools);
  bring([tools = std::move(tools)](const Events& events) { events.on_tools(tools); });
}

UpstreamLink::Job UpstreamLink::next_job(const std::atomic<bool>& lost) {
  std::unique_lock lock(mutex_);
  // `lost` changes without the lock: it is looked at again from time to time.
  while (!wake_.wait_for(lock, milliseconds(100), [&] { return stopping_ || lost || !jobs_.empty(); })) {
  }
  if (stopping_ || lost) return nullptr;
  Job job = std::move(jobs_.front());
  jobs_.pop_front();
  return job;
}

void UpstreamLink::add_job(Job job) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  wake_.notify_all();
}

bool UpstreamLink::rest(milliseconds pause) {
  const auto until = std::chrono::steady_clock::now() + pause;
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

void UpstreamLink::call(Call call) {
  add_job([self = shared_from_this(), call = std::move(call)](client::McpClient* client) { self->make_call(client, call); });
}

void UpstreamLink::make_call(client::McpClient* client, const Call& call) {
  const auto end = [self = shared_from_this(), key = call.key](client::Outcome outcome) {
    self->bring([key, outcome = std::move(outcome)](const Events& events) { events.on_end(key, outcome); });
  };
  if (client == nullptr) return end(no_connection("there is no connection"));
  client::McpClient::Callbacks callbacks;
  callbacks.on_end = end;
  if (call.progress == Call::Progress::kWanted) {
    callbacks.on_progress = [self = shared_from_this(), key = call.key](const Json& progress) {
      self->bring([key, progress](const Events& events) { events.on_progress(key, progress); });
    };
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
