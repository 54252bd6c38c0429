#include "text/shown_address.hpp"

namespace rkllm_mcp {

std::string shown_address(std::string_view address) {
  constexpr std::string_view kAfterScheme = "://";
  const auto scheme = address.find(kAfterScheme);
  if (scheme == std::string_view::npos) return std::string(address);
  std::string_view rest = address.substr(scheme + kAfterScheme.size());
  // Whatever a password has in it, as long as it is no slash.
  const auto user_end = rest.substr(0, rest.find('/')).rfind('@');
  if (user_end != std::string_view::npos) rest.remove_prefix(user_end + 1);
  rest = rest.substr(0, rest.find('?'));
  return std::string(address.substr(0, scheme + kAfterScheme.size())).append(rest);
}

}  // namespace rkllm_mcp
