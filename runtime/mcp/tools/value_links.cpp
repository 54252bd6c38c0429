#include "mcp/tools/value_links.hpp"

#include <rkllm_mcp/base64.hpp>
#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp::mcp {
namespace {

constexpr std::string_view kValues = "rkllm://values/";
// Bytes that a read returns by default, and the most that a client may ask for.
constexpr std::size_t kUsualBytes = std::size_t{192} << 10U;
constexpr std::size_t kMostBytes = std::size_t{1} << 20U;

struct Range {
  std::string_view id;
  std::size_t offset = 0;
  std::size_t length = kUsualBytes;
};

// The number behind `name` in a query such as "offset=0&length=4096".
std::optional<std::size_t> number_in(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    if (!part.starts_with(name) || part.substr(name.size(), 1) != "=") continue;
    const std::string_view digits = part.substr(name.size() + 1);
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      throw InvalidParams("params.uri", std::string(name) + ": expected a number of bytes");
    }
    return number;
  }
  return std::nullopt;
}

std::optional<Range> range_of(std::string_view uri) {
  if (!uri.starts_with(kValues)) return std::nullopt;
  uri.remove_prefix(kValues.size());
  const auto question = uri.find('?');
  const std::string_view query = question == std::string_view::npos ? std::string_view() : uri.substr(question + 1);
  Range range{uri.substr(0, question)};
  range.offset = number_in(query, "offset").value_or(0);
  range.length = std::min(number_in(query, "length").value_or(kUsualBytes), kMostBytes);
  return range;
}

Json description_of(const ValueRows& rows) {
  return Json{{"field", rows.field},
              {"dtype", "float32"},
              {"byte_order", "little"},
              {"shape", {rows.rows, rows.columns}},
              {"bytes", rows.bytes()}};
}

std::optional<ResourceText> read(ValueStore& values, std::string_view uri) {
  const auto range = range_of(uri);
  const ValueRows* const rows = range ? values.find(range->id) : nullptr;
  if (rows == nullptr) return std::nullopt;
  const auto bytes = std::as_bytes(std::span(rows->values));
  const std::size_t offset = std::min(range->offset, bytes.size());
  const std::size_t length = std::min(range->length, bytes.size() - offset);
  ResourceText text{encode_base64(bytes.subspan(offset, length)), true};
  text.meta = description_of(*rows);
  text.meta["offset"] = offset;
  text.meta["length"] = length;
  return text;
}

}  // namespace

Json link_rows(ValueStore& values, CallOutcome& outcome, const std::string& owner) {
  Json links = Json::array();
  if (outcome.values.is_null()) outcome.values = Json::object();
  for (const auto& rows : outcome.rows) {
    outcome.values[rows.field] =
        Json{{rows.values_name, nullptr}, {rows.columns_name, rows.columns}, {rows.rows_name, rows.rows}};
    Json about = description_of(rows);
    about["expires_in_s"] = std::chrono::seconds(ValueStore::kKeptFor).count();
    const std::string shape = std::to_string(rows.rows) + " x " + std::to_string(rows.columns);
    links.push_back(Json{{"type", "resource_link"},
                         {"uri", nullptr},  // known when they are kept
                         {"name", rows.field},
                         {"description", shape + " float32, little endian, for 10 minutes; read a part with "
                                                 "?offset=BYTES&length=BYTES (at most 1048576)"},
                         {"mimeType", "application/octet-stream"},
                         {"size", rows.bytes()},
                         {"_meta", {{"rkllm/values", std::move(about)}}}});
  }
  outcome.memory.set(0);  // the store counts the rows from here on
  const auto ids = values.keep(std::exchange(outcome.rows, {}), owner);
  for (std::size_t at = 0; at < ids.size(); ++at) links[at]["uri"] = std::string(kValues) + ids[at];
  return links;
}

void add_value_resources(Catalogue& catalogue, ValueStore& values) {
  catalogue.templates.push_back(
      {std::string(kValues) + "{id}{?offset,length}", "values", "Hidden states or logits",
       "What a run answered with a link: 32-bit floats, little endian, row by row; length bytes from offset on.",
       "application/octet-stream", [&values](std::string_view uri) { return read(values, uri); }});
}

}  // namespace rkllm_mcp::mcp
