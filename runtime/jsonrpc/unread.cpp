#include "jsonrpc/unread.hpp"

#include "jsonrpc/bounded_json.hpp"
#include "text/json_text.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kAnyDepth = static_cast<std::size_t>(-1);  // it was looked at when the message came

std::string dumped(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

void append(std::string& out, const Json& value) {
  if (value.is_binary()) {
    out += unread_text(value);
  } else if (value.is_object()) {
    const char* before = "{";
    for (const auto& [name, member] : value.items()) {
      out += std::exchange(before, ",");
      append_quoted(out, name);
      out += ':';
      append(out, member);
    }
    out += value.empty() ? "{}" : "}";
  } else if (value.is_array()) {
    const char* before = "[";
    for (const Json& element : value) {
      out += std::exchange(before, ",");
      append(out, element);
    }
    out += value.empty() ? "[]" : "]";
  } else {
    out += dumped(value);
  }
}

std::size_t unread_bytes(const Json& value) {
  if (value.is_binary()) return value.get_binary().size();
  if (!value.is_structured()) return 0;
  std::size_t bytes = 0;
  for (const Json& each : value) bytes += unread_bytes(each);
  return bytes;
}

template <class Iterator>
Json built(JsonBuilder& builder, Iterator begin, Iterator end) {
  if (Json::sax_parse(begin, end, &builder)) return builder.take();
  throw RpcError(ErrorCode::kInvalidRequest, "invalid request: " + builder.complaint());
}

Json read(std::string_view text, std::size_t most_values) {
  JsonBuilder builder(kAnyDepth);
  builder.refuse_above(most_values);
  return built(builder, text.begin(), text.end());
}

}  // namespace

Json unread_part(std::string_view text) {
  Json::binary_t::container_type bytes(text.begin(), text.end());
  // Between values only: inside strings JSON writes them as escapes.
  std::replace(bytes.begin(), bytes.end(), std::uint8_t{'\n'}, std::uint8_t{' '});
  std::replace(bytes.begin(), bytes.end(), std::uint8_t{'\r'}, std::uint8_t{' '});
  return unread_line(std::move(bytes));
}

std::string_view unread_text(const Json& value) {
  if (!value.is_binary()) return {};
  const auto& bytes = value.get_binary();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool has_unread(const Json& value) {
  if (!value.is_structured()) return value.is_binary();
  return std::any_of(value.begin(), value.end(), [](const Json& each) { return has_unread(each); });
}

Json read_whole(Json value, std::size_t most_values) {
  if (value.is_binary()) return read(unread_text(value), most_values);
  if (!value.is_structured()) return value;
  for (Json& each : value) {
    if (each.is_binary() || each.is_structured()) each = read_whole(std::move(each), most_values);
  }
  return value;
}

Json read_outside(const Json& part) {
  const std::string_view text = unread_text(part);
  const char* position = text.data();
  const char* end = text.data() + text.size();
  JsonBuilder builder(kAnyDepth, &position);
  return built(builder, TellingIterator(&position), TellingIterator(&end));
}

std::string to_text(const Json& value) {
  if (!has_unread(value)) return dumped(value);
  std::string text;
  append_text(text, value);
  return text;
}

void append_text(std::string& text, const Json& value, std::size_t still_to_come) {
  if (!has_unread(value)) {
    text += dumped(value);
    return;
  }
  // A message of some megabytes that outgrew its memory again and again would be copied as often, on the event loop.
  constexpr std::size_t kAround = 1024;  // what there is of names and short values
  text.reserve(text.size() + unread_bytes(value) + kAround + still_to_come);
  append(text, value);
}

}  // namespace rkllm_mcp
