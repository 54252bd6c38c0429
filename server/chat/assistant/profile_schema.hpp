// What a profile's file looks like, as JSON Schema: editors show it, and complain of what read_profile() refuses.
#pragma once

#include <rkllm_mcp/json.hpp>

namespace rkllm_mcp::chat {

Json profile_schema();  // draft 2020-12

}  // namespace rkllm_mcp::chat
