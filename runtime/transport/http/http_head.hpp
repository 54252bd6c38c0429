// The text of a response's status line and header fields.
#pragma once

#include "transport/http/http_message.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace rkllm_mcp {

class HttpHead {
 public:
  explicit HttpHead(int status);

  // Control characters in `value` become blanks: no value can add a field or end the head.
  HttpHead& add(std::string_view name, std::string_view value);
  HttpHead& add(const HttpHeaders& headers);
  std::string text() const { return text_ + "\r\n"; }

 private:
  std::string text_;
};

// Whether a response of that status has no body, and must not announce one (RFC 9110, section 6.4.1).
bool http_status_forbids_body(int status);

// A complete response after which the connection is closed.
std::string http_last_response(const HttpResponse& response);

}  // namespace rkllm_mcp
