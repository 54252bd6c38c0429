#include "dispatch/http_sessions.hpp"

#include "call/stream_registry.hpp"
#include "jsonrpc/envelope.hpp"

namespace rkllm_mcp {

HttpSessions::Found HttpSessions::of(const HttpRequest& request) {
  const Principal* const principal = dispatcher_.gate().identify(request.bearer_token());
  if (const auto id = request.headers.find(kSessionHeader)) {
    const auto found = entries_.find(*id);
    if (found == entries_.end() || found->second.session->principal != principal) return {};
    found->second.last_used = Clock::now();
    return {found->second.session, found->second.streams};
  }
  auto& session = anonymous_[principal];
  if (!session) session = dispatcher_.make_session(principal, true);
  return {session};
}

HttpSessions::~HttpSessions() {
  for (const auto& [id, entry] : entries_) entry.session->cancel_all();
}

std::optional<HttpSessions::Opened> HttpSessions::open(const HttpRequest& request) {
  const Principal* const principal = dispatcher_.gate().identify(request.bearer_token());
  forget_idle(principal);
  if (entries_.size() >= kMost) return std::nullopt;
  const auto streams = std::make_shared<SessionStreams>(dispatcher_.loop(), dispatcher_.options().calls.stream_memory);
  const auto session = dispatcher_.make_session(principal);
  session->outlet = streams->standing();
  const auto opened = entries_.emplace(new_stream_id(), Entry{session, streams, Clock::now()}).first;
  return Opened{opened->first, opened->second.session};
}

bool HttpSessions::end(std::string_view id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return false;
  const auto session = found->second.session;
  entries_.erase(found);
  session->cancel_all();
  session->when_idle([session] {});  // its calls still have their exchanges to end
  return true;
}

void HttpSessions::forget_idle(const Principal* newcomer) {
  const auto oldest = Clock::now() - idle_;
  auto longest_rested = entries_.end();
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const bool rests = entry->second.rests();
    if (rests && entry->second.last_used < oldest) {
      entry = entries_.erase(entry);
      continue;
    }
    const bool longer = longest_rested == entries_.end() || entry->second.last_used < longest_rested->second.last_used;
    if (rests && longer && entry->second.session->principal == newcomer) longest_rested = entry;
    ++entry;
  }
  if (entries_.size() >= kMost && longest_rested != entries_.end()) entries_.erase(longest_rested);
}

HttpResponse no_such_session() { return refusal(404, "no such session; initialize again"); }

HttpResponse refusal(int status, const std::string& complaint) {
  const RpcError error(ErrorCode::kInvalidRequest, "invalid request: " + complaint);
  return {status, {}, "application/json", error_message(RequestId(kNullId), error)};
}

}  // namespace rkllm_mcp
