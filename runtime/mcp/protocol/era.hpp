// What the revisions of one era have in common, and the other era does differently: how a client says who it is, the
// shape of results, and how a server asks its client for something. And the values for that: what the server knows of
// the client of a request (ClientContext), and what it may want from it (InputRequest).
//
// Event loop only.
#pragma once

#include "mcp/protocol/revisions.hpp"

#include <rkllm_mcp/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

class Session;

}  // namespace rkllm_mcp

namespace rkllm_mcp::mcp {

class Invocation;

// The severities of log messages that clients may ask for.
enum class Severity { kDebug, kInfo, kNotice, kWarning, kError, kCritical, kAlert, kEmergency };

inline constexpr std::array<std::string_view, 8> kSeverityNames{"debug", "info",     "notice", "warning",
                                                                "error", "critical", "alert",  "emergency"};

constexpr std::string_view name_of(Severity level) { return kSeverityNames.at(static_cast<std::size_t>(level)); }

inline std::optional<Severity> severity_named(std::string_view name) {
  const auto found = std::find(kSeverityNames.begin(), kSeverityNames.end(), name);
  if (found == kSeverityNames.end()) return std::nullopt;
  return static_cast<Severity>(found - kSeverityNames.begin());
}

struct ClientContext {
  const Revision* revision;            // never null
  Json capabilities = Json::object();  // the protocol's ClientCapabilities
  std::optional<Severity> log_level;   // of the messages that it wants to hear; nothing: none

  bool can(std::string_view capability) const { return capabilities.contains(capability); }
  bool has_extension(std::string_view extension) const {
    const auto extensions = capabilities.find("extensions");
    return extensions != capabilities.end() && extensions->is_object() && extensions->contains(extension);
  }
};

// What a server may want from its client in the middle of a request: a model's answer, a person's, or its roots.
struct InputRequest {
  std::string key;     // under which the answer is found
  std::string method;  // "sampling/createMessage", "elicitation/create" or "roots/list"
  Json params = Json::object();
};

using InputRequests = std::vector<InputRequest>;

// The capability that a client must have for a request of that method: "sampling", "elicitation" or "roots".
constexpr std::string_view capability_for(std::string_view method) { return method.substr(0, method.find('/')); }

// How long a client may go on using a result without asking again, and whether it may show it to its other users.
struct Freshness {
  std::chrono::milliseconds lasts{0};
  enum class Scope { kPrivate, kPublic } scope = Scope::kPrivate;
};

class Era {
 public:
  virtual ~Era() = default;

  // True: `initialize` describes the client once for the session, and notifications/cancelled cancels a request. False:
  // each request describes its client and the log level that it wants, and is cancelled when its HTTP exchange closes.
  virtual bool has_handshake() const = 0;
  // Who asks. Throws RpcError if the request does not say what it has to.
  virtual ClientContext client_of(const Revision& revision, const Json& params, const Session& session) const = 0;
  // `body` as a complete result. `server` is {"name","version"}.
  virtual Json result(Json body, const std::optional<Freshness>& freshness, const Json& server) const = 0;
  // Asks the client for `requests`; when it has answered, the tool is called again, with the answers and `state`.
  virtual void ask(Invocation& invocation, InputRequests requests, Json state) const = 0;
};

// Revisions up to 2025-11-25: the server asks by requests of its own.
const Era& handshake_era();
// Revisions from 2026-07-28: every request has in `_meta` what the server has to know of its client, results carry
// their type, and what the server wants from its client is a result, too, upon which the client asks again.
const Era& stateless_era();

// The revision that a request claims for itself, whatever that is; nothing if it claims none.
std::optional<Json> claimed_revision(const Json& params);
// Whether it is of the stateless era: it claims a revision that has no handshake, or one that is not served.
bool is_stateless_request(const Json& params);

}  // namespace rkllm_mcp::mcp
