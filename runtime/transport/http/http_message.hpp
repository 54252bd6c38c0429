// HTTP requests and responses as plain values, and the text of a response's head.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp {
struct Principal;
}  // namespace rkllm_mcp

namespace rkllm_mcp::http {

bool equal_ignoring_case(std::string_view a, std::string_view b);  // ASCII letters only
std::string_view trim_blanks(std::string_view text);               // without leading and trailing blanks and tabs
bool is_token(std::string_view text);                              // RFC 9110's token: names of methods and headers

// Header fields in the order in which they came or will be sent. Names are compared ignoring case.
class Headers {
 public:
  using Field = std::pair<std::string, std::string>;

  Headers() = default;
  Headers(std::initializer_list<Field> fields) : fields_(fields) {}

  void add(std::string_view name, std::string_view value) { fields_.emplace_back(name, value); }
  std::optional<std::string_view> find(std::string_view name) const;  // the first of that name
  std::size_t count(std::string_view name) const;
  // Whether one of the comma-separated elements of all fields of that name equals `element`.
  enum class Case { kIgnored, kCounts };  // of `element`; that of a field's name never counts
  bool lists(std::string_view name, std::string_view element, Case letters = Case::kIgnored) const;

  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  std::size_t size() const { return fields_.size(); }

 private:
  std::vector<Field> fields_;
};

struct Request {
  std::string method;  // as sent: methods are case-sensitive
  std::string target;  // origin-form "/mcp?x=1", or "*"
  std::string path;    // "/mcp", not decoded
  std::string query;   // "x=1", not decoded
  std::string host;    // "localhost:8080"; empty only for HTTP/1.0
  Headers headers;
  std::string body;
  std::string remote;  // "127.0.0.1:40112"; filled in by the server
  // Who sends it, as an Identify has said once its header fields were there; null: nobody who is known.
  const Principal* principal = nullptr;
  bool is_http_1_0 = false;  // else 1.1
  bool keep_alive = true;    // what the client wants to happen afterwards

  std::string_view bearer_token() const;  // of "Authorization: Bearer", else "x-api-key"; empty if there is none
};

// Says whose access token a request presents, from its header fields. Called once for each request, since it computes
// a hash.
using Identify = std::function<const Principal*(const Request& head)>;

struct Response {
  int status = 200;
  Headers headers;  // beyond Content-Type, Content-Length, Connection, Date and X-Content-Type-Options
  std::string content_type;
  std::string body;
};

std::string_view reason_phrase(int status);  // "Not Found"; "Status" for codes that are not named here

// A response whose text says in plain words what was wrong.
Response plain_response(int status, std::string_view explanation);

// The text of a response's status line and header fields, with X-Content-Type-Options. Knows no time, and so no Date.
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

// A time as header fields have it (RFC 9110, section 5.6.7): "Sun, 06 Nov 1994 08:49:37 GMT".
std::string http_date(std::int64_t seconds_since_1970);

// A complete response after which the connection is closed.
std::string last_response(const Response& response);

}  // namespace rkllm_mcp::http
