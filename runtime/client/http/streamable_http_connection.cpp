#include "client/http/streamable_http_connection.hpp"

#include "clock.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace rkllm_mcp::client {
namespace {

constexpr std::chrono::milliseconds kLongestConnecting{10'000};
constexpr std::chrono::seconds kNoticePatience{10};  // in all
constexpr std::chrono::seconds kAfterAnswer{1};      // until a response that is left open is closed
constexpr std::chrono::milliseconds kEndPatience{300};
constexpr std::chrono::seconds kSendPatience{30};
constexpr std::chrono::milliseconds kBetweenStops{20};
constexpr std::chrono::seconds kLongestRest{2};  // servers close what rests for some seconds more
constexpr std::size_t kMostRested = 4;

std::chrono::milliseconds connect_patience(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return std::clamp(left, std::chrono::milliseconds(1), kLongestConnecting);
}

// Whether the messages behind this one wait until it has been answered.
bool goes_first(const MessageFacts& facts) { return facts.requests.empty() || facts.method == "initialize"; }

bool contains(const std::vector<Json>& ids, const Json& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// Gives the lock up as long as it lives, and holds it again whatever is thrown meanwhile.
class Unlocked {
 public:
  explicit Unlocked(std::unique_lock<std::mutex>& lock) : lock_(lock) { lock_.unlock(); }
  ~Unlocked() { lock_.lock(); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  std::unique_lock<std::mutex>& lock_;
};

}  // namespace

template <class Action>
void StreamableHttpConnection::or_fail(const Action& action) {
  try {
    action();
  } catch (const std::exception& error) {
    end(error.what());
  }
}

void StreamableHttpConnection::end(const char* reason) {
  try {
    inbox_.fail(session_.url() + ": " + reason);
  } catch (const std::exception&) {
    inbox_.fail("no memory");  // short enough for a string that needs none
  }
}

StreamableHttpConnection::StreamableHttpConnection(const Endpoint& endpoint, Clock::time_point deadline)
    : session_(endpoint, connect_patience(deadline)) {
  session_.reach();
  conductor_ = std::thread([this] { conduct(); });
}

StreamableHttpConnection::~StreamableHttpConnection() {
  interrupt();
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  conductor_.join();
  end_session();
}

void StreamableHttpConnection::interrupt() {
  end("interrupted");
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

void StreamableHttpConnection::send(std::string_view message) {
  Waiting waiting{facts_of(message), std::string(message)};
  std::unique_lock lock(mutex_);
  inbox_.throw_if_failed();
  if (!waiting.facts.cancels.is_null() && cancel(waiting.facts.cancels)) return;
  const bool has_room =
      changed_.wait_for(lock, kSendPatience, [this] { return waiting_.size() < kMostWaiting || inbox_.has_failed(); });
  inbox_.throw_if_failed();
  if (!has_room) throw ConnectionError(session_.url() + ": takes nothing");
  waiting_.push_back(std::move(waiting));
  changed_.notify_all();
}

// A request that has not been sent never will be. A modern one that has is cancelled by closing its response.
bool StreamableHttpConnection::cancel(const Json& id) {
  const auto unsent =
      std::ranges::find_if(waiting_, [&id](const Waiting& each) { return contains(each.facts.requests, id); });
  if (unsent != waiting_.end()) {
    waiting_.erase(unsent);
    changed_.notify_all();
    return true;
  }
  for (Running& running : running_) {
    const MessageFacts& facts = running.flight->facts();
    if (!facts.is_modern() || !contains(facts.requests, id)) continue;
    running.unwanted = true;
    changed_.notify_all();
    return true;
  }
  return false;
}

void StreamableHttpConnection::conduct() {
  std::unique_lock lock(mutex_);
  for (;;) {
    remove_ended(lock);
    if (closing_) {
      for (Running& running : running_) running.unwanted = true;
      waiting_.clear();
    }
    const auto next_time = look_at_times();
    bool is_stopping = true;
    or_fail([&] { is_stopping = stop_unwanted(lock); });
    if (closing_ && running_.empty() && (!listening_ || listener_ended_)) break;
    if (!waiting_.empty() && may_start()) {
      Waiting next = std::move(waiting_.front());
      waiting_.pop_front();
      changed_.notify_all();
      or_fail([&] { start(std::move(next)); });
    } else if (is_stopping) {
      changed_.wait_for(lock, kBetweenStops);
    } else {
      const auto has_news = [this] {
        return closing_ || (!waiting_.empty() && may_start()) || std::ranges::any_of(running_, [](const Running& each) {
                 return each.ended || each.unwanted || (each.settled && !each.stop_at);
               });
      };
      if (next_time) {
        changed_.wait_until(lock, *next_time, has_news);
      } else {
        changed_.wait(lock, has_news);
      }
    }
  }
  lock.unlock();
  if (listener_.joinable()) listener_.join();
}

bool StreamableHttpConnection::may_start() const {
  if (std::ranges::any_of(running_, [](const Running& each) {
        return goes_first(each.flight->facts()) && !each.settled && !each.unwanted;
      })) {
    return false;
  }
  return goes_first(waiting_.front().facts) || running_.size() < kMostInFlight;
}

void StreamableHttpConnection::start(Waiting waiting) {
  const bool is_notice = waiting.facts.requests.empty();
  auto connection = is_notice ? session_.connection(kNoticePatience) : trip();
  std::list<Running> started(1);  // it is not among those that run before it has its thread
  Running& running = started.front();
  if (is_notice) running.stop_at = Clock::now() + kNoticePatience;
  running.flight = std::make_unique<HttpFlight>(session_, inbox_, std::move(connection), std::move(waiting.facts),
                                                std::move(waiting.message), callbacks_of(running));
  running.thread = std::thread([this, &running] {
    or_fail([&] { running.flight->run(); });
    const std::lock_guard lock(mutex_);
    running.ended = true;
    changed_.notify_all();
  });
  running_.splice(running_.end(), started);
}

HttpFlight::Callbacks StreamableHttpConnection::callbacks_of(Running& running) {
  return {.on_settled =
              [this, &running] {
                const std::lock_guard lock(mutex_);
                running.settled = true;
                running.stop_at.reset();
                changed_.notify_all();
              },
          .has_company =
              [this, &running] {
                const std::lock_guard lock(mutex_);
                return (listening_ && !listener_ended_) || std::ranges::any_of(running_, [&](const Running& each) {
                         return &each != &running && !each.ended;
                       });
              }};
}

std::optional<Clock::time_point> StreamableHttpConnection::look_at_times() {
  std::optional<Clock::time_point> next;
  for (Running& running : running_) {
    if (running.settled && !running.stop_at) running.stop_at = Clock::now() + kAfterAnswer;
    if (!running.stop_at || running.ended || running.unwanted) continue;
    if (*running.stop_at <= Clock::now()) {
      running.unwanted = true;
    } else if (!next || *running.stop_at < *next) {
      next = running.stop_at;
    }
  }
  return next;
}

void StreamableHttpConnection::remove_ended(std::unique_lock<std::mutex>& lock) {
  for (auto each = running_.begin(); each != running_.end();) {
    if (!each->ended) {
      ++each;
      continue;
    }
    {
      const Unlocked unlocked(lock);
      each->thread.join();
    }
    or_fail([&] { finish(*each->flight); });
    each = running_.erase(each);
  }
}

void StreamableHttpConnection::finish(HttpFlight& flight) {
  const MessageFacts& facts = flight.facts();
  // The server sends nothing more for it, but may leave the response open.
  if (!facts.cancels.is_null()) {
    for (Running& running : running_) {
      if (contains(running.flight->facts().requests, facts.cancels)) running.unwanted = true;
    }
  }
  const bool begins = facts.method == "notifications/initialized" && flight.was_accepted();
  if (begins && !listening_ && !closing_) listen();
  if (auto trip = flight.take_reusable_trip(); trip && !facts.requests.empty() && rested_.size() < kMostRested) {
    rested_.push_back({std::move(trip), Clock::now()});
  }
}

bool StreamableHttpConnection::stop_unwanted(std::unique_lock<std::mutex>& lock) {
  std::vector<HttpFlight*> unwanted;
  for (Running& running : running_) {
    if (running.unwanted && !running.ended) unwanted.push_back(running.flight.get());
  }
  const bool stops_listening = closing_ && listening_ && !listener_ended_;
  if (unwanted.empty() && !stops_listening) return false;
  const Unlocked unlocked(lock);  // to stop may take as long as to connect
  for (HttpFlight* flight : unwanted) flight->stop();
  if (stops_listening) listening_->stop();
  return true;
}

void StreamableHttpConnection::listen() {
  listening_trip_ = session_.connection(kAnswerPatience);
  listening_ = std::make_unique<EventSource>(
      session_, *listening_trip_, [this](std::string message) { inbox_.put(on_one_line(std::move(message))); });
  try {
    listener_ = std::thread([this] {
      or_fail([this] { follow_events(); });
      const std::lock_guard lock(mutex_);
      listener_ended_ = true;
      changed_.notify_all();
    });
  } catch (...) {
    listening_.reset();  // else conduct() would wait for listener_ended_, which nobody sets
    throw;
  }
}

void StreamableHttpConnection::follow_events() {
  switch (listening_->follow([] { return false; })) {
    case EventSource::End::kDone: break;
    case EventSource::End::kStopped:
      if (listening_->is_too_long()) inbox_.fail(session_.url() + ": " + kTooLong);
      break;
    case EventSource::End::kRefused:  // 405: the server has nothing to say
      if (listening_->status() == 404 && session_.has_id()) {
        inbox_.fail(session_.url() + ": the server has ended the session (HTTP status 404); connect again");
      }
      break;
    case EventSource::End::kGone: inbox_.fail(session_.url() + ": the server has gone away"); break;
  }
}

std::unique_ptr<HttpRoundTrip> StreamableHttpConnection::trip() {
  std::erase_if(rested_, [](const Rested& each) { return Clock::now() - each.since > kLongestRest; });
  if (rested_.empty()) return session_.connection(kAnswerPatience);
  auto trip = std::move(rested_.back().trip);
  rested_.pop_back();
  return trip;
}

void StreamableHttpConnection::end_session() try {
  if (!session_.has_id()) return;
  const auto connection = session_.brief_connection(kEndPatience);
  connection->run(
      session_.end_of_session(), [](const HttpHead&) { return true; }, [](std::string_view) { return true; });
} catch (const std::exception&) {
  // There is no memory to tell the server, which ends the session by itself some time.
}

}  // namespace rkllm_mcp::client
