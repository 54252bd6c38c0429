// What the headers of a POST say of its message in the stateless era: they repeat parts of it, for those on the way who
// do not read bodies, and must not contradict it.
#pragma once

#include "jsonrpc/message.hpp"
#include "mcp/catalogue.hpp"
#include "mcp/protocol/agreed_names.hpp"
#include "transport/http/http_message.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// Both throw RpcError -32020 for a header that is missing, malformed, or says otherwise than the message; the first
// also -32602 for a message that claims no revision. Between the two calls the caller looks whether the revision is
// served: that error goes before those of the second.
void check_revision_header(const http::Headers& headers, const Request& request);
void check_stateless_headers(const http::Headers& headers, const Request& request, const mcp::Catalogue& catalogue);

// The value that a header carries, which may be written as =?base64?...?=; nothing if that is malformed.
std::optional<std::string> decoded_header(std::string_view value);

}  // namespace rkllm_mcp
