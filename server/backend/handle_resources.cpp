#include "backend/handle_resources.hpp"

#include "json_members.hpp"
#include "jsonrpc/envelope.hpp"
#include "jsonrpc/message.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {
namespace {

Json text_or_null(std::string text) { return text.empty() ? Json(nullptr) : Json(std::move(text)); }

}  // namespace

RunSpeed speed_of(const Json& perf) {
  const auto number = [&perf](const char* name) { return number_in(perf, name).value_or(0); };
  RunSpeed speed;
  if (number("generate_time_ms") > 0 && number("generate_tokens") > 1)
    speed.tokens_per_second = number("generate_tokens") * 1000 / number("generate_time_ms");
  if (number("prefill_time_ms") > 0) {
    speed.prefill_tokens_per_second = number("prefill_tokens") * 1000 / number("prefill_time_ms");
  }
  return speed;
}

std::string model_path_of(const QueuedBackend::HandleStatus& handle) { return model_path_in(handle.created_with); }

std::string model_name_of(const QueuedBackend::HandleStatus& handle) {
  return handle.model.empty() ? std::filesystem::path(model_path_of(handle)).stem().string() : handle.model;
}

std::string name_of_handle(const QueuedBackend::HandleStatus& handle,
                           const std::vector<QueuedBackend::HandleStatus>& all,
                           const std::function<bool(const std::string& name)>& is_taken) {
  if (!handle.model.empty()) return handle.model;
  std::string name = model_name_of(handle);
  // "llm-9" was made before "llm-10".
  const auto is_earlier = [&handle](const QueuedBackend::HandleStatus& other) {
    return other.id.size() != handle.id.size() ? other.id.size() < handle.id.size() : other.id < handle.id;
  };
  const bool is_used = std::ranges::any_of(all, [&](const auto& other) {
    return other.id == name || (other.model.empty() && is_earlier(other) && model_name_of(other) == name);
  });
  return name.empty() || is_used || is_taken(name) ? handle.id : name;
}

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
             {"process", handle.process ? Json(*handle.process) : Json(nullptr)},
             {"model", text_or_null(handle.model)},
             {"path", text_or_null(model_path_of(handle))}};
  if (handle.simulated) brief["simulated"] = true;
  return brief;
}

Json model_of(const QueuedBackend::HandleStatus& handle) {
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  const std::string path = model_path_of(handle);
  const RunSpeed speed = speed_of(handle.last_perf);
  return Json{{"name", path.empty() ? Json(nullptr) : Json(model_name_of(handle))},
              {"path", text_or_null(path)},
              {"handle", handle.id},
              {"running", handle.running},
              {"queued", handle.queue.size()},
              {"process", or_null(handle.process)},
              {"tokens_per_second", or_null(speed.tokens_per_second)}};
}

Json description_of(const QueuedBackend::HandleStatus& handle) {
  Json all = brief_of(handle);
  all.update(Json{{"created_with", handle.created_with}, {"session", handle.values}, {"last_perf", handle.last_perf}});
  return all;
}

void add_handle_resources(mcp::Catalogue& catalogue, const HandlesFunction& handles) {
  catalogue.resources.push_back({std::string(kHandlesUri), "handles", "Initialised models",
                                 "Every handle: whether it runs, how many calls wait, what it was created with.",
                                 mcp::kJsonType, [handles] {
                                   Json all = Json::array();
                                   for (const auto& handle : handles()) all.push_back(description_of(handle));
                                   return mcp::ResourceText{to_text(Json{{"handles", std::move(all)}})};
                                 }});
  catalogue.templates.push_back({std::string(kHandlesUri) + "/{id}",
                                 "handle",
                                 "One initialised model",
                                 "What rkllm://handles says of one handle.",
                                 mcp::kJsonType,
                                 [handles](std::string_view uri) -> std::optional<mcp::ResourceText> {
                                   for (const auto& handle : handles()) {
                                     if (uri == std::string(kHandlesUri) + "/" + handle.id)
                                       return mcp::ResourceText{to_text(description_of(handle))};
                                   }
                                   return std::nullopt;
                                 },
                                 {{"id", complete_handle(handles)}}});
}

mcp::CompleteFunction complete_handle(HandlesFunction handles) {
  return [handles = std::move(handles)](std::string_view /*so_far*/, const Json& /*others*/) {
    std::vector<std::string> ids;
    for (const auto& handle : handles()) ids.push_back(handle.id);
    return ids;
  };
}

}  // namespace rkllm_mcp
