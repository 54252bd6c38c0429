#include "backend/handle_resources.hpp"

#include "jsonrpc/envelope.hpp"
#include "jsonrpc/message.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {
Json brief_of(const QueuedBackend::HandleStatus& handle) {
  Json queue = Json::array();
  for (const auto& waiting : handle.queue) {
    const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(waiting.since);
    queue.push_back(Json{{"position", queue.size() + 1},
                         {"method", waiting.method},
                         {"id", id_value(waiting.request_id)},
                         {"transport", waiting.transport},
                         {"waiting_ms", since.count()}});
  }
  Json brief{{"id", handle.id},
             {"running", handle.running},
             {"queued", handle.queue.size()},
             {"queue", std::move(queue)},
             {"process", handle.process ? Json(*handle.process) : Json(nullptr)}};
  if (handle.simulated) brief["simulated"] = true;
  return brief;
}

Json description_of(const QueuedBackend::HandleStatus& handle) {
  Json all = brief_of(handle);
  all.update(Json{{"created_with", handle.created_with}, {"session", handle.values}, {"last_perf", handle.last_perf}});
  return all;
}

void add_handle_resources(Catalogue& catalogue, HandlesFunction handles) {
  catalogue.resources.push_back({std::string(kHandlesUri), "handles", "Initialised models",
                                 "Every handle: whether it runs, how many calls wait, what it was created with.",
                                 kJsonType, [handles] {
                                   Json all = Json::array();
                                   for (const auto& handle : handles()) all.push_back(description_of(handle));
                                   return ResourceText{to_text(Json{{"handles", std::move(all)}})};
                                 }});
  catalogue.templates.push_back({std::string(kHandlesUri) + "/{id}",
                                 "handle",
                                 "One initialised model",
                                 "Likewise of one handle.",
                                 kJsonType,
                                 [handles](std::string_view uri) -> std::optional<ResourceText> {
                                   for (const auto& handle : handles()) {
                                     if (uri == std::string(kHandlesUri) + "/" + handle.id)
                                       return ResourceText{to_text(description_of(handle))};
                                   }
                                   return std::nullopt;
                                 },
                                 {{"id", complete_handle(handles)}}});
}

CompleteFunction complete_handle(HandlesFunction handles) {
  return [handles = std::move(handles)](std::string_view /*so_far*/, const Json& /*others*/) {
    std::vector<std::string> ids;
    for (const auto& handle : handles()) ids.push_back(handle.id);
    return ids;
  };
}

}  // namespace rkllm_mcp
