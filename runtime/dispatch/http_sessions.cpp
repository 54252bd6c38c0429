#include "dispatch/http_sessions.hpp"

#include "auth/owner.hpp"
#include "faults.hpp"
#include "jsonrpc/envelope.hpp"
#include "mcp/protocol/agreed_names.hpp"
#include "mcp/protocol/handshake.hpp"
#include "random_bytes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace rkllm_mcp {

HttpSessions::Found HttpSessions::of(const http::Request& request) {
  const Principal* const principal = request.principal;
  if (const auto id = request.headers.find(mcp::kSessionHeader)) {
    const auto found = entries_.find(*id);
    if (found == entries_.end() || found->second.session->principal != principal) return {};
    if (found->second.is_over(Clock::now() - idle_)) {
      forget(found);
      return {};
    }
    found->second.last_used = Clock::now();
    return {found->second.session.get(), found->second.streams.get()};
  }
  auto& session = anonymous_[principal];
  if (!session) session = dispatcher_.make_session(principal, SessionOf::kManyClients);
  return {session.get()};
}

HttpSessions::~HttpSessions() {
  for (const auto& [id, entry] : entries_) entry.session->cancel_all();
}

std::optional<HttpSessions::Opened> HttpSessions::open(const http::Request& request) {
  const std::string owner = owner_of(request.principal, request.remote);
  forget_idle();
  if (entries_.size() >= kMost && !make_room_for(owner)) return std::nullopt;
  auto streams = std::make_unique<SessionStreams>(dispatcher_.loop(), dispatcher_.options().calls.stream_memory);
  const auto session = dispatcher_.make_session(request.principal);
  session->outlet = streams->standing().weak_from_this();
  const auto opened = entries_.emplace(new_id(), Entry{session, std::move(streams), Clock::now(), owner}).first;
  return Opened{opened->first, *opened->second.session};
}

bool HttpSessions::Entry::rests() const {
  const std::size_t active = session->active();
  if (active == 0) return !streams->standing().is_attached();
  // A client that has not answered our question may have gone without a sign. One that asked in a batch is still
  // connected, though it has no event stream.
  const bool waits =
      session->handshake && session->handshake->requests.rounds() == active && streams->in_progress() == active;
  return waits && !streams->is_any_attached() && !has_fault("a client that has left a question open is waited for");
}

// Calls that wait for an answer of their client hold the session; they are cancelled, so that it can end.
HttpSessions::Entries::iterator HttpSessions::forget(Entries::iterator entry) {
  const auto session = entry->second.session;
  const auto next = entries_.erase(entry);
  session->cancel_all();
  return next;
}

bool HttpSessions::end(std::string_view id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return false;
  const auto session = found->second.session;
  entries_.erase(found);
  if (!has_fault("the calls of a session that was ended go on")) session->cancel_all();
  session->when_idle([session] {});  // its calls still have their exchanges to end
  return true;
}

void HttpSessions::forget_idle() {
  const auto oldest = Clock::now() - idle_;
  for (auto each = entries_.begin(); each != entries_.end();) {
    each = each->second.is_over(oldest) ? forget(each) : std::next(each);
  }
}

bool HttpSessions::make_room_for(const std::string& newcomer) {
  std::map<std::string_view, std::size_t> held;
  for (const auto& [id, entry] : entries_) ++held[entry.owner];
  const std::size_t fewest = ++held[newcomer];
  auto chosen = entries_.end();
  std::size_t most = 0;
  // Whether `one` goes before `other`, which is of an owner with as many.
  const auto goes_before = [](const Entry& one, const Entry& other) {
    const bool is_idle = one.session->active() == 0;
    const bool is_other_idle = other.session->active() == 0;
    return is_idle != is_other_idle ? is_idle : one.last_used < other.last_used;
  };
  for (auto each = entries_.begin(); each != entries_.end(); ++each) {
    const Entry& entry = each->second;
    const std::size_t count = held[entry.owner];
    if (count < fewest || count < most || !entry.rests()) continue;
    if (count == most && !goes_before(entry, chosen->second)) continue;
    chosen = each;
    most = count;
  }
  if (chosen == entries_.end()) return false;
  forget(chosen);
  return true;
}

http::Response no_such_session() { return refusal(404, "no such session; initialize again"); }

http::Response refusal(int status, const std::string& complaint) {
  const RpcError error(ErrorCode::kInvalidRequest, "invalid request: " + complaint);
  return {status, {}, "application/json", error_message(RequestId(kNullId), error)};
}

SessionStreams::SessionStreams(asio::io_context& loop, MemoryBudget memory)
    : loop_(loop),
      memory_(std::move(memory)),
      standing_(std::make_shared<EventStream>(
          loop, EventStream::Options{.id = "0", .headers = {}, .remote = {}, .memory = memory_})) {}

SessionStreams::~SessionStreams() {
  standing_->abandon();
  for (const auto& stream : std::exchange(streams_, {})) {
    stream->when_ended(nullptr);
    stream->abandon();
  }
}

EventStream& SessionStreams::add(EventStream::Options options) {
  options.id = std::to_string(next_++);
  options.memory = memory_;
  EventStream& stream = *streams_.emplace_back(std::make_shared<EventStream>(loop_, std::move(options)));
  stream.when_ended([this, &stream] { keep_ended(stream); });
  return stream;
}

EventStream* SessionStreams::find(std::string_view id) const {
  if (id == standing_->id()) return standing_.get();
  const auto found =
      std::find_if(streams_.begin(), streams_.end(), [id](const auto& each) { return each->id() == id; });
  return found == streams_.end() ? nullptr : found->get();
}

bool SessionStreams::is_any_attached() const {
  return standing_->is_attached() ||
         std::ranges::any_of(streams_, [](const auto& each) { return each->is_attached(); });
}

std::size_t SessionStreams::in_progress() const {
  return static_cast<std::size_t>(std::ranges::count_if(streams_, [](const auto& each) { return !each->ended(); }));
}

Clock::time_point SessionStreams::last_detached() const {
  auto last = standing_->last_detached();
  for (const auto& each : streams_) last = std::max(last, each->last_detached());
  return last;
}

void SessionStreams::keep_ended(const EventStream& stream) {
  const auto place = std::ranges::find_if(streams_, [&stream](const auto& each) { return each.get() == &stream; });
  if (place == streams_.end()) return;
  // There is nothing to come back for where one plain answer was all, or the stream was given up.
  if (!stream.has_events() || stream.closed()) {
    streams_.erase(place);
    return;
  }
  std::rotate(place, place + 1, streams_.end());  // behind those that have ended before it
  const auto has_ended = [](const auto& each) { return each->ended(); };
  const auto kept = std::ranges::count_if(streams_, has_ended);
  if (kept > static_cast<std::ptrdiff_t>(kEndedStreams)) streams_.erase(std::ranges::find_if(streams_, has_ended));
}

}  // namespace rkllm_mcp
