// The functions that a server serves, as data: a table of methods, and named facts. The runtime library knows no more
// of an API than this.
#pragma once

#include <rkllm_mcp/facts.hpp>
#include <rkllm_mcp/method.hpp>

#include <span>
#include <string>
#include <string_view>

namespace rkllm_mcp {

struct Api {
  std::span<const Method> methods;
  std::span<const Fact> facts;
  std::span<const Elsewhere> elsewhere;  // functions, constants and types that only other versions of the API have
  std::string api_version;               // of the API that is served, for complaints

  const Method* method(std::string_view method_name) const { return find_method(methods, method_name); }
  // The function, constant or type of that name, if only other versions of the API have it; else null.
  const Elsewhere* method_elsewhere(std::string_view method_name) const {
    for (const auto& other : elsewhere) {
      if (other.name == method_name) return &other;
    }
    return nullptr;
  }
};

}  // namespace rkllm_mcp
