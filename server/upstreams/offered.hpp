// What another MCP server may offer, and how the protocol speaks of each kind.
#pragma once

#include <array>
#include <cstddef>

namespace rkllm_mcp {

enum class Offered { kTools, kResources, kTemplates, kPrompts };

struct OfferedList {
  const char* method;        // lists them
  const char* member;        // of its answer: the list
  const char* capability;    // a server says by it that it has them
  const char* notification;  // the list has changed
  const char* listen;        // asks a modern server for that notification; null: another kind's does
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

}  // namespace rkllm_mcp
