#include "call/session.hpp"

#include "put_back.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace rkllm_mcp {
namespace {

template <class Calls, class Predicate>
const ActiveCall* find_call(const Calls& calls, const Predicate& predicate) {
  const auto found =
      std::find_if(calls.begin(), calls.end(), [&](const auto& entry) { return predicate(entry.second); });
  return found == calls.end() ? nullptr : &found->second;
}

}  // namespace

Session::Key Session::add(ActiveCall call, const Peer& client) {
  if (shared_) call.host = host_of(client.address());
  std::erase_if(calls_, [&](const auto& entry) { return entry.second.ended && entry.second.id == call.id; });
  calls_.emplace(next_key_, std::move(call));
  return next_key_++;
}

void Session::started(Key key, Backend::CallId call, std::shared_ptr<void> waiting_limit) {
  const auto found = calls_.find(key);
  if (found == calls_.end()) return;
  found->second.call = call;
  found->second.waiting_limit = std::move(waiting_limit);
}

void Session::remove(Key key) {
  calls_.erase(key);
  tell_if_idle();
}

void Session::retain(Key key) {
  constexpr std::ptrdiff_t kRetained = 64;
  const auto is_ended = [](const auto& entry) { return entry.second.ended; };
  if (std::count_if(calls_.begin(), calls_.end(), is_ended) >= kRetained) {
    calls_.erase(std::find_if(calls_.begin(), calls_.end(), is_ended));  // keys count up: the oldest
  }
  if (const auto found = calls_.find(key); found != calls_.end()) {
    found->second.ended = true;
    found->second.waiting_limit.reset();
  }
  tell_if_idle();
}

std::size_t Session::active() const {
  return static_cast<std::size_t>(
      std::count_if(calls_.begin(), calls_.end(), [](const auto& entry) { return !entry.second.ended; }));
}

std::size_t Session::active_of(const Peer& client) const {
  if (!shared_ || is_put_back("clients without a session share one quota")) return active();
  const std::string address = client.address();
  return static_cast<std::size_t>(std::count_if(calls_.begin(), calls_.end(), [&](const auto& entry) {
    return !entry.second.ended && entry.second.host == host_of(address);
  }));
}

void Session::tell_if_idle() {
  if (!idle_ || !is_idle()) return;
  const auto idle = std::exchange(idle_, {});
  idle();
}

bool Session::is_active(const RequestId& id) const {
  return find_call(calls_, [&](const ActiveCall& call) { return !call.ended && is_same_id(call.id, id); }) != nullptr;
}

const ActiveCall* Session::find_stream(const RequestId& id) const {
  return find_call(calls_,
                   [&](const ActiveCall& call) { return (call.polled || call.pushed) && is_same_id(call.id, id); });
}

const ActiveCall* Session::find_stream_by_stream_id(std::string_view stream_id) const {
  return find_call(calls_, [&](const ActiveCall& call) { return call.stream_id == stream_id; });
}

std::shared_ptr<PushReader> Session::stream_of(const Reply& reply) const {
  const auto* call = find_call(calls_, [&](const ActiveCall& each) { return each.reply.get() == &reply; });
  return call == nullptr ? nullptr : call->pushed;
}

std::shared_ptr<Session> Session::sibling() const {
  const auto session = std::make_shared<Session>(backend_, shared_);
  session->principal = principal;
  return session;
}

void Session::cancel(Key key) {
  const auto found = calls_.find(key);
  if (found == calls_.end() || found->second.ended) return;
  const ActiveCall& call = found->second;
  if (!call.answers_when_cancelled) call.reply->mute();
  if (call.reader) {
    call.reader->stream()->stop();
    if (const auto backend = backend_.lock()) backend->cancel(call.call);
  } else if (const auto action = call.on_cancelled) {
    action();  // a copy: it may remove the call
  }
}

template <class Wanted>
void Session::cancel_all_that(Wanted is_wanted) {
  std::vector<Key> keys;  // cancelling may remove calls
  for (const auto& [key, call] : calls_) {
    if (is_wanted(call)) keys.push_back(key);
  }
  for (const Key key : keys) cancel(key);
}

void Session::cancel_request(const Json& id) {
  cancel_all_that([&](const ActiveCall& call) { return id_value(call.id) == id && (!shared_ || call.polled); });
}

void Session::cancel_all() {
  cancel_all_that([](const ActiveCall&) { return true; });
}

void Session::client_gone() {
  cancel_all();
  std::vector<std::shared_ptr<StreamReader>> readers;  // they may remove their calls meanwhile
  for (const auto& [key, call] : calls_) {
    if (call.reader) readers.push_back(call.reader);
  }
  for (const auto& reader : readers) reader->client_gone();
}

void Session::exchange_gone(const Peer& exchange) {
  const auto is_of_exchange = [&](const ActiveCall& call) { return call.reply && &call.reply->peer() == &exchange; };
  cancel_all_that([&](const ActiveCall& call) { return is_of_exchange(call) && !call.outlives_exchange; });
  std::vector<std::shared_ptr<StreamReader>> readers;
  for (const auto& [key, call] : calls_) {
    if (call.reader && is_of_exchange(call)) readers.push_back(call.reader);
  }
  for (const auto& reader : readers) reader->client_gone();
}

std::shared_ptr<void> Session::hold() {
  ++holds_;
  return {nullptr, [weak = weak_from_this()](void*) {
            const auto session = weak.lock();
            if (!session) return;
            --session->holds_;
            session->tell_if_idle();
          }};
}

void Session::when_idle(std::function<void()> action) {
  if (is_idle()) return action();
  idle_ = std::move(action);
}

}  // namespace rkllm_mcp
