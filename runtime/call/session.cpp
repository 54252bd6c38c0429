#include "call/session.hpp"

#include "faults.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace rkllm_mcp {

Session::Session(std::weak_ptr<RequestTable> requests, SessionOf clients)
    : requests_(std::move(requests)),
      number_(requests_.expired() ? 0 : requests_.lock()->new_session()),
      clients_(clients) {}

Session::~Session() {
  cancel_all();
  if (const auto requests = requests_.lock()) requests->remove_all_of(number_);
}

RequestTable::Range Session::calls() const {
  static const RequestTable::Calls kNone;
  const auto requests = requests_.lock();
  return requests ? requests->of(number_) : RequestTable::Range{kNone.end(), kNone.end()};
}

template <class Predicate>
const ActiveCall* Session::find_call(const Predicate& predicate) const {
  for (const auto& [key, call] : calls()) {
    if (predicate(call)) return &call;
  }
  return nullptr;
}

Session::Key Session::add(ActiveCall call, const Peer& client) {
  const auto requests = requests_.lock();
  if (!requests) return 0;
  if (shared()) call.host = host_of(client.facts().address);
  std::vector<Key> ended;
  for (const auto& [key, each] : calls()) {
    if (each.ended && is_same_id(each.id, call.id)) ended.push_back(key.second);
  }
  for (const Key key : ended) requests->remove(number_, key);
  return requests->add(number_, std::move(call));
}

void Session::started(Key key, Backend::CallId call, std::unique_ptr<Timer> waiting_limit) {
  const auto requests = requests_.lock();
  ActiveCall* const found = requests ? requests->find(number_, key) : nullptr;
  if (found == nullptr) return;
  found->call = call;
  found->waiting_limit = std::move(waiting_limit);
}

void Session::remove(Key key) {
  if (const auto requests = requests_.lock()) requests->remove(number_, key);
  note_end();
}

void Session::retain(Key key) {
  constexpr std::ptrdiff_t kRetained = 64;
  const auto requests = requests_.lock();
  if (!requests) return;
  const auto mine = calls();
  const auto is_ended = [](const auto& entry) { return entry.second.ended; };
  if (std::count_if(mine.begin(), mine.end(), is_ended) >= kRetained) {
    requests->remove(number_, std::find_if(mine.begin(), mine.end(), is_ended)->first.second);  // the oldest
  }
  if (ActiveCall* const found = requests->find(number_, key)) {
    found->ended = true;
    found->waiting_limit.reset();
  }
  note_end();
}

std::size_t Session::active() const {
  const auto mine = calls();
  return static_cast<std::size_t>(
      std::count_if(mine.begin(), mine.end(), [](const auto& entry) { return !entry.second.ended; }));
}

std::size_t Session::active_of(const Peer& client) const {
  if (!shared() || has_fault("clients without a session share one quota")) return active();
  const auto mine = calls();
  return static_cast<std::size_t>(std::count_if(
      mine.begin(), mine.end(),
      [&, is_theirs = is_of(client)](const auto& entry) { return !entry.second.ended && is_theirs(entry.second); }));
}

void Session::note_end() {
  last_ended_ = Clock::now();
  if (!idle_ || !is_idle()) return;
  const auto idle = std::exchange(idle_, {});
  idle();
}

bool Session::is_active(const RequestId& id) const {
  return find_call([&](const ActiveCall& call) { return !call.ended && is_same_id(call.id, id); }) != nullptr;
}

// Returns a function that tells whether a call is this client's. Clients of a shared session differ by their addresses.
std::function<bool(const ActiveCall&)> Session::is_of(const Peer& client) const {
  if (!shared()) return [](const ActiveCall&) { return true; };
  return [host = std::string(host_of(client.facts().address))](const ActiveCall& call) { return call.host == host; };
}

const ActiveCall* Session::find_stream(const RequestId& id, const Peer& client) const {
  return find_call([&, is_theirs = is_of(client)](const ActiveCall& call) {
    return (call.polled != nullptr || call.pushed != nullptr) && is_same_id(call.id, id) && is_theirs(call);
  });
}

const ActiveCall* Session::find_stream_by_stream_id(std::string_view stream_id) const {
  return find_call([&](const ActiveCall& call) { return call.stream_id == stream_id; });
}

PushReader* Session::stream_of(const Reply& reply) const {
  const auto* call = find_call([&](const ActiveCall& each) { return each.reply.get() == &reply; });
  return call == nullptr ? nullptr : call->pushed;
}

std::shared_ptr<Session> Session::sibling() const {
  auto session = std::make_shared<Session>(requests_, clients_);
  session->principal = principal;
  return session;
}

void Session::cancel(Key key) {
  const auto requests = requests_.lock();
  const ActiveCall* const found = requests ? requests->find(number_, key) : nullptr;
  if (found == nullptr || found->ended) return;
  const ActiveCall& call = *found;
  if (!call.answers_when_cancelled) call.reply->mute();
  if (call.reader) {
    call.reader->stream()->stop();
    if (Backend* const backend = requests->backend()) backend->cancel(call.call);
  } else if (const auto action = call.on_cancelled) {
    action();  // a copy: it may remove the call
  }
}

template <class Wanted>
void Session::cancel_all_that(Wanted is_wanted) {
  std::vector<Key> keys;  // cancelling may remove calls
  for (const auto& [key, call] : calls()) {
    if (is_wanted(call)) keys.push_back(key.second);
  }
  for (const Key key : keys) cancel(key);
}

void Session::cancel_request(const Json& id, const Peer& client) {
  cancel_all_that([&, is_theirs = is_of(client)](const ActiveCall& call) {
    return id_value(call.id) == id && (!shared() || call.polled != nullptr) && is_theirs(call);
  });
}

void Session::cancel_all() {
  cancel_all_that([](const ActiveCall&) { return true; });
}

// Tells the readers of these calls that their client has gone.
template <class Wanted>
void Session::tell_readers_that(Wanted is_wanted) {
  std::vector<std::weak_ptr<StreamReader>> readers;  // they may remove calls meanwhile
  for (const auto& [key, call] : calls()) {
    if (call.reader && is_wanted(call)) readers.emplace_back(call.reader);
  }
  for (const auto& weak : readers) {
    if (const auto reader = weak.lock()) reader->client_gone();
  }
}

void Session::client_gone() {
  cancel_all();
  tell_readers_that([](const ActiveCall&) { return true; });
}

void Session::exchange_gone(const Peer& exchange) {
  const auto is_of_exchange = [&](const ActiveCall& call) { return call.reply && &call.reply->peer() == &exchange; };
  cancel_all_that([&](const ActiveCall& call) { return is_of_exchange(call) && !call.outlives_exchange; });
  tell_readers_that(is_of_exchange);
}

Session::Hold::Hold(const Hold& other) : session_(other.session_) {
  if (const auto session = session_.lock()) ++session->holds_;
}

Session::Hold::~Hold() {
  const auto session = session_.lock();
  if (!session) return;
  --session->holds_;
  session->note_end();
}

void Session::when_idle(std::function<void()> action) {
  if (is_idle()) return action();
  idle_ = std::move(action);
}

}  // namespace rkllm_mcp
