// What a server may want from its client in the middle of a request: a model's answer, a person's, or its roots.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

struct InputRequest {
  std::string key;     // under which the answer is found
  std::string method;  // "sampling/createMessage", "elicitation/create" or "roots/list"
  Json params = Json::object();
};

using InputRequests = std::vector<InputRequest>;

// The capability that a client must have for a request of that method: "sampling", "elicitation" or "roots".
constexpr std::string_view capability_for(std::string_view method) { return method.substr(0, method.find('/')); }

}  // namespace rkllm_mcp
