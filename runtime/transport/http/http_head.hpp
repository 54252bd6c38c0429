// The text of a response's status line and header fields.
#pragma once

#include "transport/http/http_message.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace rkllm_mcp::http {

class Head {
 public:
  explicit Head(int status);

  // Control characters in `value` become blanks: no value can add a field or end the head.
  Head& add(std::string_view name, std::string_view value);
  Head& add(const Headers& headers);
  std::string text() const { return text_ + "\r\n"; }

 private:
  std::string text_;
};

// Whether a response of that status has no body, and must not announce one (RFC 9110, section 6.4.1).
bool status_forbids_body(int status);

// A complete response after which the connection is closed.
std::string last_response(const Response& response);

}  // namespace rkllm_mcp::http
