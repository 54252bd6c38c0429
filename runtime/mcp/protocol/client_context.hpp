// What the server knows of the client of one request: told once by a handshake, or with the request itself.
#pragma once

#include "mcp/lists/severity.hpp"
#include "mcp/protocol/revision.hpp"

#include <rkllm_mcp/json.hpp>

#include <optional>
#include <string_view>

namespace rkllm_mcp {

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

}  // namespace rkllm_mcp
