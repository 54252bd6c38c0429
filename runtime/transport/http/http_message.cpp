#include "transport/http/http_message.hpp"

#include <rkllm_mcp/lower_case.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

namespace rkllm_mcp::http {

namespace {

bool list_contains(std::string_view list, std::string_view element, Headers::Case letters) {
  while (true) {
    const auto comma = list.find(',');
    const std::string_view each = trim_blanks(list.substr(0, comma));
    if (letters == Headers::Case::kCounts ? each == element : equal_ignoring_case(each, element)) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace

std::string_view trim_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return in_lower_case(x) == in_lower_case(y); });
}

bool is_token(std::string_view text) {
  static constexpr std::string_view kPunctuation = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (in_lower_case(c) >= 'a' && in_lower_case(c) <= 'z') ||
           kPunctuation.find(c) != std::string_view::npos;
  });
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
  for (const auto& [field, value] : fields_) {
    if (equal_ignoring_case(field, name)) return value;
  }
  return std::nullopt;
}

std::size_t Headers::count(std::string_view name) const {
  return static_cast<std::size_t>(std::count_if(
      fields_.begin(), fields_.end(), [name](const Field& field) { return equal_ignoring_case(field.first, name); }));
}

bool Headers::lists(std::string_view name, std::string_view element, Case letters) const {
  return std::any_of(fields_.begin(), fields_.end(), [name, element, letters](const Field& field) {
    return equal_ignoring_case(field.first, name) && list_contains(field.second, element, letters);
  });
}

std::string_view Request::bearer_token() const {
  constexpr std::string_view kScheme = "Bearer ";
  const std::string_view value = headers.find("Authorization").value_or("");
  if (equal_ignoring_case(value.substr(0, kScheme.size()), kScheme)) return trim_blanks(value.substr(kScheme.size()));
  return trim_blanks(headers.find("x-api-key").value_or(""));
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 101: return "Switching Protocols";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 426: return "Upgrade Required";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return "Status";
  }
}

Response plain_response(int status, std::string_view explanation) {
  Response response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.body =
      std::to_string(status) + " " + std::string(reason_phrase(status)) + ": " + std::string(explanation) + "\n";
  return response;
}

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

std::string http_date(std::int64_t seconds_since_1970) {
  // strftime() has names in the language of the locale.
  static constexpr std::array<const char*, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array<const char*, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto seconds = static_cast<std::time_t>(seconds_since_1970);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                kDays.at(static_cast<std::size_t>(parts.tm_wday)), parts.tm_mday,
                kMonths.at(static_cast<std::size_t>(parts.tm_mon)), parts.tm_year + 1900, parts.tm_hour, parts.tm_min,
                parts.tm_sec);
  return text.data();
}

std::string last_response(const Response& response) {
  Head head(response.status);
  head.add("Content-Type", response.content_type).add("Content-Length", std::to_string(response.body.size()));
  return head.add(response.headers).add("Connection", "close").text() + response.body;
}

}  // namespace rkllm_mcp::http
