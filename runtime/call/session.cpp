#include "call/session.hpp"

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

Session::Key Session::add(ActiveCall call) {
  std::erase_if(calls_, [&](const auto& entry) { return entry.second.ended && entry.second.id == call.id; });
  calls_.emplace(next_key_, std::move(call));
  return next_key_++;
}

void Session::started(Key key, Backend::CallId call, std::shared_ptr<void> alongside) {
  const auto found = calls_.find(key);
  if (found == calls_.end()) return;
  found->second.call = call;
  found->second.alongside = std::move(alongside);
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
    found->second.alongside.reset();
  }
  tell_if_idle();
}

std::size_t Session::active() const {
  return static_cast<std::size_t>(
      std::count_if(calls_.begin(), calls_.end(), [](const auto& entry) { return !entry.second.ended; }));
}

void Session::tell_if_idle() {
  if (!idle_ || !is_idle()) return;
  const auto idle = std::exchange(idle_, {});
  idle();
}

bool Session::is_active(const RequestId& id) const {
  return find_call(calls_, [&](const ActiveCall& call) { return call.id == id && !call.ended; }) != nullptr;
}

const ActiveCall* Session::find_stream(const RequestId& id) const {
  return find_call(calls_, [&](const ActiveCall& call) { return call.id == id && (call.polled || call.pushed); });
}

const ActiveCall* Session::find_stream_by_stream_id(std::string_view stream_id) const {
  return find_call(calls_, [&](const ActiveCall& call) { return call.stream_id == stream_id; });
}

std::shared_ptr<PushReader> Session::stream_of(const Reply& reply) const {
  const auto* call = find_call(calls_, [&](const ActiveCall& each) { return each.reply.get() == &reply; });
  return call == nullptr ? nullptr : call->pushed;
}

void Session::cancel(ActiveCall& call) {
  if (call.ended) return;
  if (!call.answers_when_cancelled) call.reply->mute();
  call.reader->stream()->stop();
  if (const auto backend = backend_.lock()) backend->cancel(call.call);
}

void Session::cancel(Key key) {
  if (const auto found = calls_.find(key); found != calls_.end()) cancel(found->second);
}

void Session::cancel_request(const RequestId& id) {
  for (auto& [key, call] : calls_) {
    if (call.id == id && (!shared_ || call.polled)) cancel(call);
  }
}

void Session::cancel_all() {
  for (auto& [key, call] : calls_) cancel(call);
}

void Session::client_gone() {
  cancel_all();
  std::vector<std::shared_ptr<StreamReader>> readers;  // they may remove their calls meanwhile
  for (const auto& [key, call] : calls_) readers.push_back(call.reader);
  for (const auto& reader : readers) reader->client_gone();
}

void Session::exchange_gone(const Peer& exchange) {
  std::vector<std::shared_ptr<StreamReader>> readers;
  for (auto& [key, call] : calls_) {
    if (!call.reply || &call.reply->peer() != &exchange) continue;
    if (!call.outlives_exchange) cancel(call);
    readers.push_back(call.reader);
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
