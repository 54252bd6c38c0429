#include "auth/owner.hpp"

#include "auth/access_tokens.hpp"

namespace rkllm_mcp {

std::string owner_of(const Principal* principal, std::string_view address) {
  return owner_of(principal == nullptr ? std::string_view() : principal->name, address);
}

std::string owner_of(std::string_view name, std::string_view address) {
  return name.empty() ? source_of(address) : "token " + std::string(name);
}

}  // namespace rkllm_mcp
