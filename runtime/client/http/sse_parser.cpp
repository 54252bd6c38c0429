#include "client/http/sse_parser.hpp"

#include "client/connection.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

namespace rkllm_mcp::client {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

void SseParser::feed(std::string_view bytes, const std::function<void(const SseEvent&)>& on_event) {
  while (!bytes.empty()) {
    if (std::exchange(after_cr_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const auto end = std::min(bytes.find_first_of("\r\n"), bytes.size());
    if (line_.size() + event_.data.size() + end > longest_event_)
      throw ConnectionError("a server-sent event is too long");
    line_ += bytes.substr(0, end);
    if (end == bytes.size()) return;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    take_line(std::exchange(line_, {}), on_event);
  }
}

void SseParser::restart() {
  line_.clear();
  event_ = {};
  has_data_ = after_cr_ = false;
  at_start_ = true;
  id_ = last_id_;
}

void SseParser::take_line(std::string_view line, const std::function<void(const SseEvent&)>& on_event) {
  if (std::exchange(at_start_, false) && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  if (line.empty()) return end_event(on_event);
  const auto colon = line.find(':');
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  take_field(line.substr(0, colon), value);  // a comment is a field without a name
}

void SseParser::take_field(std::string_view name, std::string_view value) {
  if (name == "data") {
    if (std::exchange(has_data_, true)) event_.data += '\n';
    event_.data += value;
  } else if (name == "event") {
    event_.type = value;
  } else if (name == "id") {
    if (value.find('\0') == std::string_view::npos) id_ = value;
  } else if (name == "retry") {
    std::uint32_t milliseconds = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), milliseconds);
    if (error == std::errc{} && end == value.data() + value.size()) retry_ = std::chrono::milliseconds(milliseconds);
  }
}

void SseParser::end_event(const std::function<void(const SseEvent&)>& on_event) {
  last_id_ = id_;
  const SseEvent event = std::exchange(event_, {});
  if (std::exchange(has_data_, false)) on_event(event);
}

}  // namespace rkllm_mcp::client
