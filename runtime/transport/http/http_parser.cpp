#include "transport/http/http_parser.hpp"

#include "limit.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <new>
#include <utility>

namespace rkllm_mcp::http {

namespace {

constexpr std::size_t kChunkLineBytes = 256;  // a size and some extension; nobody sends more

constexpr std::array<std::string_view, 7> kMethods = {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"};

bool is_visible(char c) { return c > 0x20 && c < 0x7F; }

bool is_field_text(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == '\t' || (byte >= 0x20 && byte != 0x7F);
}

// All of `text` as a number; nothing for signs, blanks, an empty text or overflow.
std::optional<std::size_t> parse_number(std::string_view text, int base) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// host [":" port], with the host a name, an IPv4 address, or an IPv6 address in brackets.
bool is_authority(std::string_view text) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:[]%";
  return text.find_first_not_of(kAllowed) == std::string_view::npos;
}

}  // namespace

std::size_t Parser::feed(std::string_view bytes) {
  const auto offered = bytes.size();
  while (!bytes.empty() && state_ != State::kComplete && state_ != State::kRefused) {
    if (state_ == State::kBody || state_ == State::kChunk) {
      on_body_bytes(bytes);
    } else if (const auto line = take_line(bytes)) {
      on_line(*line);
    }
  }
  return offered - bytes.size();
}

std::size_t Parser::line_limit() const {
  switch (state_) {
    case State::kRequestLine: return limits_.request_line_bytes;
    case State::kHeaders:
    case State::kTrailers: return limits_.header_bytes - header_bytes_;
    default: return kChunkLineBytes;
  }
}

// The next line without its CRLF, valid until the next call. Nothing if it is not complete yet, or refused.
std::optional<std::string_view> Parser::take_line(std::string_view& bytes) {
  if (std::exchange(line_done_, false)) line_.clear();
  const auto end = bytes.find('\n');
  const auto piece = bytes.substr(0, end == std::string_view::npos ? end : end + 1);
  // What is beyond the limit is not looked at: the answer is the same however much of it comes at once.
  const auto part = piece.substr(0, line_limit() + 2 - line_.size());
  const bool is_too_long = part.size() < piece.size();
  const bool is_whole = !is_too_long && end != std::string_view::npos;
  bytes.remove_prefix(part.size());
  std::string_view line = part;
  if (!is_whole || !line_.empty()) line = line_.append(part);
  const auto cr = line.find('\r');
  const bool cr_is_bare = cr != std::string_view::npos && cr + 1 < line.size() && line[cr + 1] != '\n';
  const bool lf_is_bare = is_whole && (cr == std::string_view::npos || cr + 2 != line.size());
  if (cr_is_bare || lf_is_bare) {
    refuse(400, "lines must end with CR LF, and hold neither otherwise");
  } else if (is_too_long) {
    refuse_long_line();
  }
  if (!is_whole || state_ == State::kRefused) return std::nullopt;
  line_done_ = true;
  return line.substr(0, line.size() - 2);
}

void Parser::on_line(std::string_view line) {
  switch (state_) {
    case State::kRequestLine: return on_request_line(line);
    case State::kHeaders: return line.empty() ? on_headers_end() : on_header(line, false);
    case State::kChunkSize: return on_chunk_size(line);
    case State::kChunkEnd:
      if (!line.empty()) return refuse(400, "a chunk is longer than its size says");
      state_ = State::kChunkSize;
      return;
    case State::kTrailers:
      if (!line.empty()) return on_header(line, true);
      state_ = State::kComplete;
      return;
    case State::kBody:
    case State::kChunk:
    case State::kComplete:
    case State::kRefused: return;  // no lines there
  }
}

void Parser::on_request_line(std::string_view line) {
  if (line.empty()) {
    // One is tolerated, as old clients send one after a body.
    if (std::exchange(skipped_empty_line_, true)) refuse(400, "empty lines before the request");
    return;
  }
  const auto first = line.find(' ');
  const auto last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return refuse(400, "not an HTTP request line");
  const auto method = line.substr(0, first);
  if (!is_token(method)) return refuse(400, "not an HTTP method");
  request_.method = method;
  on_version(line.substr(last + 1));
  if (state_ == State::kRefused) return;
  if (std::find(kMethods.begin(), kMethods.end(), method) == kMethods.end()) return refuse(501, "unknown method");
  on_target(line.substr(first + 1, last - first - 1));
  if (state_ != State::kRefused) state_ = State::kHeaders;
}

void Parser::on_version(std::string_view version) {
  const bool well_formed = version.size() == 8 && version.substr(0, 5) == "HTTP/" && version[6] == '.' &&
                           version[5] >= '0' && version[5] <= '9' && version[7] >= '0' && version[7] <= '9';
  if (!well_formed) return refuse(400, "not an HTTP version");
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return refuse(505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
  request_.is_http_1_0 = version == "HTTP/1.0";
}

void Parser::on_target(std::string_view target) {
  if (target.empty() || !std::all_of(target.begin(), target.end(), is_visible) ||
      target.find('#') != std::string_view::npos) {
    return refuse(400, "not a request target");
  }
  if (target == "*" && request_.method == "OPTIONS") {
    request_.target = request_.path = target;
    return;
  }
  // The absolute form is for proxies, but every server has to understand it; its authority then counts, not Host's.
  constexpr std::string_view kScheme = "http://";
  if (equal_ignoring_case(target.substr(0, kScheme.size()), kScheme)) {
    target.remove_prefix(kScheme.size());
    const auto end = std::min(target.find_first_of("/?"), target.size());
    request_.host = target.substr(0, end);
    if (request_.host.empty() || !is_authority(request_.host)) return refuse(400, "not a host in the request target");
    target.remove_prefix(end);
    if (target.empty() || target[0] == '?') request_.target = '/';
    request_.target += target;
  } else if (target[0] == '/') {
    request_.target = target;
  } else {
    return refuse(400, "not a request target");
  }
  const auto question = request_.target.find('?');
  request_.path = request_.target.substr(0, question);
  if (question != std::string::npos) request_.query = request_.target.substr(question + 1);
}

void Parser::on_header(std::string_view line, bool is_trailer) {
  header_bytes_ += line.size() + 2;
  if (header_bytes_ > limits_.header_bytes) return refuse(431, "the header fields are too long");
  if (++header_count_ > limits_.headers) return refuse(431, "too many header fields");
  if (line[0] == ' ' || line[0] == '\t') return refuse(400, "header fields must not be folded");
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
    return refuse(400, "not a header field name directly followed by a colon");
  }
  const auto value = trim_blanks(line.substr(colon + 1));
  if (!std::all_of(value.begin(), value.end(), is_field_text))
    return refuse(400, "control characters in a header field");
  // Trailers are checked and forgotten: nothing that matters may come after the body.
  if (!is_trailer) request_.headers.add(line.substr(0, colon), value);
}

void Parser::on_headers_end() {
  on_host();
  if (state_ == State::kRefused) return;
  const auto& headers = request_.headers;
  request_.keep_alive = request_.is_http_1_0
                            ? headers.lists("Connection", "keep-alive") && !headers.lists("Connection", "close")
                            : !headers.lists("Connection", "close");
  if (const auto expectation = headers.find("Expect")) {
    if (headers.count("Expect") > 1 || !equal_ignoring_case(*expectation, "100-continue")) {
      return refuse(417, "only 100-continue can be expected");
    }
    expects_continue_ = !request_.is_http_1_0;
  }
  request_.remote = limits_.remote;
  if (limits_.identify) request_.principal = limits_.identify(request_);
  from_stranger_ = limits_.identify && request_.principal == nullptr;
  if (from_stranger_) body_limit_ = std::min(body_limit_, limits_.stranger_body_bytes);
  on_framing();
}

void Parser::on_host() {
  const auto count = request_.headers.count("Host");
  if (count > 1) return refuse(400, "several Host fields");
  if (count == 0) {
    if (!request_.is_http_1_0) refuse(400, "the Host field is missing");
    return;
  }
  const auto host = *request_.headers.find("Host");
  if (host.empty()) return refuse(400, "the Host field is empty");
  if (!is_authority(host)) return refuse(400, "not a host in the Host field");
  if (request_.host.empty()) request_.host = host;
}

void Parser::on_framing() {
  const auto& headers = request_.headers;
  const auto coding = headers.find("Transfer-Encoding");
  if (!coding) return on_content_length();
  if (headers.count("Content-Length") > 0) return refuse(400, "both Content-Length and Transfer-Encoding");
  if (request_.is_http_1_0) return refuse(400, "Transfer-Encoding in HTTP/1.0");
  if (headers.count("Transfer-Encoding") > 1) return refuse(400, "several Transfer-Encoding fields");
  if (!equal_ignoring_case(*coding, "chunked")) return refuse(501, "no other transfer coding than chunked");
  state_ = State::kChunkSize;
}

void Parser::on_content_length() {
  std::optional<std::size_t> length;
  for (const auto& [name, value] : request_.headers) {
    if (!equal_ignoring_case(name, "Content-Length")) continue;
    const bool only_digits = value.find_first_not_of("0123456789") == std::string::npos;
    if (value.empty() || !only_digits) return refuse(400, "Content-Length must be a number");
    // A number beyond all bounds is still a number, and too large.
    const auto number = parse_number(value, 10).value_or(static_cast<std::size_t>(-1));
    if (length && *length != number) return refuse(400, "differing Content-Length fields");
    length = number;
  }
  remaining_ = length.value_or(0);
  if (remaining_ > body_limit_) return refuse_body(remaining_);
  state_ = remaining_ == 0 ? State::kComplete : State::kBody;
}

void Parser::on_chunk_size(std::string_view line) {
  const auto semicolon = line.find(';');
  const auto digits = line.substr(0, semicolon);
  if (!std::all_of(line.begin(), line.end(), is_field_text))
    return refuse(400, "control characters in a chunk extension");
  const auto size = digits.size() <= 16 ? parse_number(digits, 16) : std::nullopt;
  // from_chars takes a minus sign only for signed types, but a sign, a blank or "0x" all leave something unread.
  if (!size) return refuse(400, "not a chunk size");
  const auto so_far = request_.body.size();
  if (*size > body_limit_ - so_far) return refuse_body(std::max(*size, *size + so_far));  // which may overflow
  remaining_ = *size;
  state_ = remaining_ == 0 ? State::kTrailers : State::kChunk;
}

void Parser::on_body_bytes(std::string_view& bytes) {
  const auto part = bytes.substr(0, remaining_);
  if (!append_body(part))
    return refuse(503, "the memory for requests (" + std::string(name_of(Limit::kMemory)) + ") is used up");
  bytes.remove_prefix(part.size());
  remaining_ -= part.size();
  if (remaining_ == 0) state_ = state_ == State::kBody ? State::kComplete : State::kChunkEnd;
}

bool Parser::append_body(std::string_view bytes) {
  try {
    if (!share_.has_room_for(bytes.size())) return false;
    request_.body.append(bytes);
    share_.set(request_.body.capacity());
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void Parser::refuse(int status, std::string_view explanation) {
  state_ = State::kRefused;
  refusal_ = Refusal{status, std::string(explanation)};
}

void Parser::refuse_long_line() {
  if (state_ == State::kRequestLine) return refuse(414, "the request line is too long");
  if (state_ == State::kHeaders || state_ == State::kTrailers) return refuse(431, "the header fields are too long");
  refuse(400, "the chunk size line is too long");
}

void Parser::refuse_body(std::size_t bytes) {
  if (from_stranger_ && bytes <= limits_.body_bytes) {
    refuse(401, "an access token is required: Authorization: Bearer TOKEN");
    refusal_->is_guess = !request_.bearer_token().empty();
    return;
  }
  refuse(413, "the limit is " + std::to_string(body_limit_) + " bytes");
  refusal_->body_bytes = bytes;
}

Request Parser::take() {
  auto request = std::move(request_);
  *this = Parser(limits_);
  return request;
}

bool Parser::take_continue() { return in_body() && std::exchange(expects_continue_, false); }

}  // namespace rkllm_mcp::http
