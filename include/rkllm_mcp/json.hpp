// The JSON value used throughout. Members keep the order in which they were written, so that replies, schemas and
// settings read the way a person would write them.
#pragma once

#include <nlohmann/json.hpp>

namespace rkllm_mcp {

using Json = nlohmann::ordered_json;

}  // namespace rkllm_mcp
