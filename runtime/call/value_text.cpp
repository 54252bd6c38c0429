#include "call/value_text.hpp"

#include "jsonrpc/unread.hpp"
#include "limit.hpp"

#include <rkllm_mcp/base64.hpp>
#include <rkllm_mcp/tensor.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {
namespace {

using Text = Json::binary_t::container_type;

// The shortest number that reads back as `value`, written as one with a fraction.
void append_float(Text& out, float value) {
  const auto append = [&out](std::string_view text) { out.insert(out.end(), text.begin(), text.end()); };
  if (!std::isfinite(value)) return append("null");
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  append(text);
  if (text.find_first_of(".e") == std::string_view::npos) append(".0");
}

Text numbers(const std::vector<float>& values, std::size_t expected, const ValueWriting& how) {
  Text text;
  text.reserve(expected);
  text.push_back('[');
  for (const float value : values) {
    append_float(text, value);
    text.push_back(',');
    if (text.size() > how.most_bytes) throw too_long_reply(text.size(), how);
  }
  if (values.empty()) text.push_back(',');
  text.back() = ']';
  return text;
}

// How long the rows become as text, about.
std::size_t text_bytes_of(const ValueRows& rows, ArrayEncoding encoding) {
  return encoding == ArrayEncoding::kBase64 ? (rows.bytes() + 2) / 3 * 4 : 2 + rows.bytes() * kTextPerByte;
}

}  // namespace

std::size_t bytes_of_rows(const CallOutcome& outcome) {
  std::size_t bytes = 0;
  for (const auto& rows : outcome.rows) bytes += rows.bytes();
  return bytes;
}

RpcError too_long_reply(std::size_t bytes, const ValueWriting& how) {
  count(how.counts, Limit::kReplyBytes);
  return too_large("the answer with its values exceeds " + std::string(name_of(Limit::kReplyBytes)) +
                       "; ask for fewer tokens, with \"encoding\":\"base64\", or by tools/call, which answers with a "
                       "link to the values",
                   bytes, how.most_bytes);
}

void write_rows(CallOutcome& outcome, const ValueWriting& how) {
  auto all = std::exchange(outcome.rows, {});
  if (all.empty() || outcome.error) return;
  if (outcome.values.is_null()) outcome.values = Json::object();
  MemoryShare share(how.memory);
  for (auto& rows : all) {
    const std::size_t expected = text_bytes_of(rows, how.encoding);
    const bool is_base64 = how.encoding == ArrayEncoding::kBase64;
    if (is_base64 && expected > how.most_bytes) throw too_long_reply(expected, how);
    const std::size_t before = share.bytes();
    const std::size_t room = std::min(expected, how.most_bytes);
    if (!share.grow(room)) throw no_memory();
    Json values;
    if (is_base64) {
      values = floats_to_json(rows.values, how.encoding);
    } else {
      auto text = numbers(rows.values, room, how);
      share.set(before + text.capacity());
      values = unread_line(std::move(text));
    }
    rows.values = {};
    outcome.values[rows.field] =
        Json{{rows.values_name, std::move(values)}, {rows.columns_name, rows.columns}, {rows.rows_name, rows.rows}};
  }
  outcome.memory = std::move(share);  // in place of the share of the rows, which are freed
}

}  // namespace rkllm_mcp
