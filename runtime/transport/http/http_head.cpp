#include "transport/http/http_head.hpp"

namespace rkllm_mcp::http {

Head::Head(int status) : text_("HTTP/1.1 " + std::to_string(status) + " ") {
  text_.append(reason_phrase(status)).append("\r\n");
  // Answers are what their Content-Type says; no browser is to guess a page in them.
  add("X-Content-Type-Options", "nosniff");
}

Head& Head::add(std::string_view name, std::string_view value) {
  text_.append(name).append(": ");
  for (const char c : value) text_ += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
  text_.append("\r\n");
  return *this;
}

Head& Head::add(const Headers& headers) {
  for (const auto& [name, value] : headers) add(name, value);
  return *this;
}

bool status_forbids_body(int status) { return status < 200 || status == 204 || status == 304; }

std::string last_response(const Response& response) {
  Head head(response.status);
  head.add("Content-Type", response.content_type).add("Content-Length", std::to_string(response.body.size()));
  return head.add(response.headers).add("Connection", "close").text() + response.body;
}

}  // namespace rkllm_mcp::http
