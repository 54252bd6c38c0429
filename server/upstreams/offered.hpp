// What another MCP server may offer, how the protocol speaks of each kind, and how much of it is taken.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace rkllm_mcp {

enum class Offered { kTools, kResources, kTemplates, kPrompts };

struct OfferedList {
  const char* method;        // of the request for the list
  const char* member;        // of the answer, which holds the list
  const char* capability;    // that a server declares if it has such entries
  const char* notification;  // that tells of a changed list
  const char* listen;        // member of the filter of subscriptions/listen; null: that of another kind covers it
};

inline const OfferedList& list_of(Offered kind) {
  static constexpr const char* kResourcesChanged = "notifications/resources/list_changed";
  static constexpr std::array<OfferedList, 4> kLists{
      {{"tools/list", "tools", "tools", "notifications/tools/list_changed", "toolsListChanged"},
       {"resources/list", "resources", "resources", kResourcesChanged, "resourcesListChanged"},
       {"resources/templates/list", "resourceTemplates", "resources", kResourcesChanged, nullptr},
       {"prompts/list", "prompts", "prompts", "notifications/prompts/list_changed", "promptsListChanged"}}};
  return kLists.at(static_cast<std::size_t>(kind));
}

// How many values another server may hand to the event loop, which looks at them all.
inline constexpr std::size_t kMostUpstreamValues = std::size_t{256} * 1024;  // of one answer, or of one list

// Subtracts from `left` the number of values in `value`, at any depth; false if there are more than that.
inline bool are_values_within(std::size_t& left, const Json& value) {
  if (left == 0) return false;
  --left;
  return !value.is_structured() ||
         std::ranges::all_of(value, [&left](const Json& each) { return are_values_within(left, each); });
}

// Which tools of another MCP server are wanted: patterns of the names that they have there, with *, ? and [...].
struct ToolFilter {
  std::vector<std::string> allow{};  // empty: all
  std::vector<std::string> deny{};   // what matches one of these is not wanted, also if `allow` has it

  bool passes(const std::string& tool) const {
    const auto matches = [&tool](const std::string& pattern) {
      return ::fnmatch(pattern.c_str(), tool.c_str(), 0) == 0;
    };
    return std::ranges::none_of(deny, matches) && (allow.empty() || std::ranges::any_of(allow, matches));
  }
};

}  // namespace rkllm_mcp
