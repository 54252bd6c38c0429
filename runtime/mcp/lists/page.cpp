#include "mcp/lists/page.hpp"

#include "jsonrpc/envelope.hpp"
#include "jsonrpc/unread.hpp"

#include <rkllm_mcp/errors.hpp>

#include <charconv>
#include <string>

namespace rkllm_mcp::mcp {
namespace {

constexpr std::string_view kCursorPrefix = "from-";

std::size_t start_of(const Json& params, std::size_t count) {
  if (!params.is_object() || !params.contains("cursor")) return 0;
  const Json& cursor = params["cursor"];
  if (cursor.is_null()) return 0;
  if (!cursor.is_string()) throw InvalidParams("params.cursor", "expected string");
  const std::string text = cursor.get<std::string>();
  std::size_t start = 0;
  if (text.starts_with(kCursorPrefix)) {
    const char* const begin = text.data() + kCursorPrefix.size();
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(begin, end, start);
    if (error == std::errc() && stopped == end && start > 0 && start < count) return start;
  }
  throw InvalidParams("params.cursor", "not a cursor of this list");
}

}  // namespace

Json page_of(std::string_view name, const Json& params, std::size_t count,
             const std::function<Json(std::size_t)>& entry, const PageLimits& limits) {
  Json items = Json::array();
  std::size_t next = start_of(params, count);
  for (std::size_t bytes = 0; next < count && items.size() < limits.items; ++next) {
    Json item = entry(next);
    const std::string_view written = unread_text(item);
    bytes += (written.empty() ? to_text(item).size() : written.size()) + 1;
    if (!items.empty() && bytes > limits.bytes) break;
    items.push_back(std::move(item));
  }
  Json page{{std::string(name), std::move(items)}};
  if (next < count) page["nextCursor"] = std::string(kCursorPrefix) + std::to_string(next);
  return page;
}

}  // namespace rkllm_mcp::mcp
