#include "transport/http/http_head.hpp"

namespace rkllm_mcp {

HttpHead::HttpHead(int status) : text_("HTTP/1.1 " + std::to_string(status) + " ") {
  text_.append(http_reason(status)).append("\r\n");
  // Answers are what their Content-Type says; no browser is to guess a page in them.
  add("X-Content-Type-Options", "nosniff");
}

HttpHead& HttpHead::add(std::string_view name, std::string_view value) {
  text_.append(name).append(": ");
  for (const char c : value) text_ += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
  text_.append("\r\n");
  return *this;
}

HttpHead& HttpHead::add(const HttpHeaders& headers) {
  for (const auto& [name, value] : headers) add(name, value);
  return *this;
}

bool http_status_forbids_body(int status) { return status < 200 || status == 204 || status == 304; }

std::string http_last_response(const HttpResponse& response) {
  HttpHead head(response.status);
  head.add("Content-Type", response.content_type).add("Content-Length", std::to_string(response.body.size()));
  return head.add(response.headers).add("Connection", "close").text() + response.body;
}

}  // namespace rkllm_mcp
