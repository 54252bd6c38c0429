// The lists of a catalogue, page by page, as the protocol has them. Event loop only.
#pragma once

#include "mcp/catalogue.hpp"
#include "mcp/lists/page.hpp"

#include <rkllm_mcp/json.hpp>

namespace rkllm_mcp::mcp {

// Each takes the request's params (for the cursor), and has what the session's client may use. Throw InvalidParams.
Json list_tools(const Catalogue& catalogue, const Session& session, const Json& params, const PageLimits& limits);
Json list_resources(const Catalogue& catalogue, const Session& session, const Json& params, const PageLimits& limits);
Json list_resource_templates(const Catalogue& catalogue, const Session& session, const Json& params,
                             const PageLimits& limits);
Json list_prompts(const Catalogue& catalogue, const Session& session, const Json& params, const PageLimits& limits);

}  // namespace rkllm_mcp::mcp
