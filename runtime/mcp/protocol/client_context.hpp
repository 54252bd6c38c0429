// What the server knows of the client of one request: told once by a handshake, or with the request itself; and what it
// may want from it.
#pragma once

#include "mcp/protocol/revisions.hpp"

#include <rkllm_mcp/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::mcp {

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

}  // namespace rkllm_mcp::mcp
