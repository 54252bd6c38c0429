// What a session's handshake agreed on, and what the session has asked for since. Event loop only.
#pragma once

#include "faults.hpp"
#include "jsonrpc/message.hpp"
#include "mcp/protocol/era.hpp"
#include "mcp/protocol/revisions.hpp"
#include "transport/peer.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {

struct Principal;

}  // namespace rkllm_mcp

namespace rkllm_mcp::mcp {

// The server's own requests that the client has not answered yet.
class ServerRequests {
 public:
  // A round is one call that waits for answers of its client; rounds() tells how many calls wait now.
  void begin_round() { ++rounds_; }
  void end_round() { rounds_ -= rounds_ > 0 ? 1 : 0; }
  std::size_t rounds() const { return rounds_; }

  bool any() const { return !waiting_.empty(); }

  using AnswerFunction = std::function<void(const Response&)>;

  // The id for a request whose answer goes to `answered`.
  RequestId add(AnswerFunction answered) {
    RequestId id = "\"server-" + std::to_string(next_++) + "\"";
    waiting_.emplace(id, std::move(answered));
    return id;
  }
  void forget(const RequestId& id) { waiting_.erase(id); }
  // An answer that nobody waits for is passed over.
  void take(const Response& response) {
    const auto found = waiting_.find(response.id);
    if (found == waiting_.end()) return;
    const auto answered = found->second;
    if (!has_fault("an answer that comes twice counts twice")) waiting_.erase(found);
    answered(response);
  }

 private:
  std::uint64_t next_ = 1;
  std::size_t rounds_ = 0;
  std::map<RequestId, AnswerFunction> waiting_;
};

struct Handshake {
  const Revision* revision;            // never null
  Json capabilities = Json::object();  // the client's
  std::optional<Severity> log_level{};
  std::set<std::string, std::less<>> resources{};  // subscribed to
  std::weak_ptr<Peer> outlet{};                    // where messages go that answer no request
  ServerRequests requests{};
  const Principal* principal = nullptr;  // whose session it is

  // Whether its client is still there: a call that takes its time to stop may keep a session that is over.
  bool is_there() const {
    const auto peer = outlet.lock();
    return peer && !peer->closed();
  }
  // Whether the client keeps up: its send queue is not full. Only then it is sent what may be dropped (log messages).
  bool takes_more() const {
    const auto peer = outlet.lock();
    return peer && peer->ready();
  }
  void tell(std::string_view message) const {
    if (const auto peer = outlet.lock()) peer->send(message);
  }
};

}  // namespace rkllm_mcp::mcp
