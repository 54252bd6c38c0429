#include "transport/bytes/first_bytes.hpp"

#include <algorithm>

namespace rkllm_mcp {

bool FirstBytes::allow(std::string_view& bytes) {
  if (verdict_ == Verdict::kUndecided) {
    bytes.remove_prefix(std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size()));
    if (bytes.empty()) return true;
    verdict_ = bytes.front() == '{' || bytes.front() == '[' ? Verdict::kMessages : Verdict::kOther;
  }
  return verdict_ != Verdict::kOther;
}

}  // namespace rkllm_mcp
