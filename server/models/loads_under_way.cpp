#include "models/loads_under_way.hpp"

#include "models/model_files.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace rkllm_mcp {

Json LoadsUnderWay::status(const std::vector<QueuedBackend::Load>& loads) {
  std::erase_if(seen_, [&loads](const auto& entry) {
    return std::ranges::find(loads, entry.first, &QueuedBackend::Load::init) == loads.end();
  });
  Json all = Json::array();
  for (const QueuedBackend::Load& load : loads) {
    auto found = seen_.find(load.init);
    if (found == seen_.end()) {
      const auto file = load.path.empty() ? std::nullopt : look_at_model(load.path);
      const auto total = file ? std::optional(file->bytes) : std::nullopt;
      found = seen_.emplace(load.init, Seen{total, LoadedBytes(load.path, total, proc_)}).first;
    }
    const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
    std::optional<double> left;
    if (load.before) left = std::max(0.0, std::chrono::duration<double>(*load.before - load.since).count());
    // 0: nothing has been seen of it; it may also have been read before anybody looked.
    const std::int64_t bytes = load.process ? found->second.bytes.of(*load.process).value_or(0) : 0;
    all.push_back(Json{{"name", load.model.empty() ? std::filesystem::path(load.path).stem().string() : load.model},
                       {"path", load.path.empty() ? Json(nullptr) : Json(load.path)},
                       {"bytes", bytes > 0 ? Json(bytes) : Json(nullptr)},
                       {"total", or_null(found->second.total)},
                       {"seconds_left", or_null(left)}});
  }
  return all;
}

}  // namespace rkllm_mcp
