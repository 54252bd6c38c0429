#include "upstreams/tool_pages.hpp"

#include "client/connection.hpp"

#include <variant>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kMostTools = 1000;
constexpr std::size_t kMostPages = 1000;
constexpr std::size_t kMostListBytes = std::size_t{2} << 20U;

}  // namespace

bool ToolPages::take(const client::Outcome& page) {
  if (const auto* error = std::get_if<client::RemoteError>(&page))
    throw client::ConnectionError(std::string(list_.method) + ": " + error->message);
  const Json& result = std::get<Json>(page);
  const auto tools = result.find(list_.member);
  if (tools == result.end() || !tools->is_array()) {
    throw client::ConnectionError("the answer to " + std::string(list_.method) + " has no " + list_.member);
  }
  for (const Json& tool : *tools) {
    bytes_ += tool.dump().size();
    if (tools_.size() == kMostTools) cut_short_ = "only the first 1000 " + std::string(list_.member) + " are taken";
    if (bytes_ > kMostListBytes) cut_short_ = "only the first 2 MiB of " + std::string(list_.member) + " are taken";
    if (!are_values_within(values_left_, tool)) {
      cut_short_ =
          "only the first " + std::to_string(kMostUpstreamValues) + " values of " + list_.member + " are taken";
    }
    if (!cut_short_.empty()) return false;
    tools_.push_back(tool);
  }
  const auto next = result.find("nextCursor");
  if (next == result.end() || next->is_null()) return false;
  if (!next->is_string() || next->get_ref<const std::string&>().empty()) {
    cut_short_ = "the list goes on at a cursor that is no text";
    return false;
  }
  cursor_ = next->get<std::string>();
  if (!cursors_.insert(cursor_).second) cut_short_ = "the list comes back to a cursor";
  if (cursors_.size() > kMostPages) cut_short_ = "only the first 1000 pages are read";
  return cut_short_.empty();
}

}  // namespace rkllm_mcp
