#include "transport/http_guard.hpp"

#include <algorithm>
#include <array>

namespace rkllm_mcp {

namespace {

// What browsers can be made to send without asking first (GET, HEAD, POST), what they ask with (OPTIONS), and the rest.
constexpr std::array<std::string_view, 10> kRequestStarts = {"GET ",   "HEAD ",    "POST ",    "PUT ",   "DELETE ",
                                                             "PATCH ", "OPTIONS ", "CONNECT ", "TRACE ", "PRI "};

}  // namespace

bool HttpGuard::is_http(std::string_view bytes) {
  for (const char c : bytes) {
    if (verdict_ != Verdict::kUndecided) break;
    if (first_.empty() && (c == '\r' || c == '\n')) continue;
    first_ += c;
    const auto begins = [this](std::string_view start) { return start.substr(0, first_.size()) == first_; };
    if (std::none_of(kRequestStarts.begin(), kRequestStarts.end(), begins)) verdict_ = Verdict::kOther;
    if (verdict_ == Verdict::kUndecided && c == ' ') verdict_ = Verdict::kHttp;
  }
  return verdict_ == Verdict::kHttp;
}

}  // namespace rkllm_mcp
