#include "call/value_text.hpp"

#include "jsonrpc/unread.hpp"

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

constexpr std::size_t kBytesOfNumber = 12;  // most take fewer

// The shortest number that reads back as `value`, written as one with a fraction.
void append_float(std::string& out, float value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

std::string numbers(const std::vector<float>& values) {
  std::string text;
  text.reserve(2 + values.size() * kBytesOfNumber);
  text += '[';
  for (const float value : values) {
    append_float(text, value);
    text += ',';
  }
  if (values.empty()) text += ',';
  text.back() = ']';
  return text;
}

}  // namespace

std::size_t bytes_of_rows(const CallOutcome& outcome) {
  std::size_t bytes = 0;
  for (const auto& rows : outcome.rows) bytes += rows.bytes();
  return bytes;
}

RpcError too_long_reply(std::size_t bytes, std::size_t most) {
  return too_large(
      "the answer with its values exceeds limits.max_reply_bytes; ask for fewer tokens, with \"encoding\":\"base64\", or by "
      "tools/call, which answers with a link to the values",
      bytes, most);
}

void write_rows(CallOutcome& outcome, ArrayEncoding encoding) {
  auto all = std::exchange(outcome.rows, {});
  if (all.empty() || outcome.error) return;
  if (outcome.values.is_null()) outcome.values = Json::object();
  for (auto& rows : all) {
    Json values = encoding == ArrayEncoding::kBase64 ? floats_to_json(rows.values, encoding)
                                                     : unread_part(numbers(rows.values));
    rows.values = {};
    outcome.values[rows.field] = Json{{rows.values_name, std::move(values)},
                                      {rows.columns_name, rows.columns},
                                      {rows.rows_name, rows.rows}};
  }
}

}  // namespace rkllm_mcp
