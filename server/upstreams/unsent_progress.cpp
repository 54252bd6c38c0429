#include "upstreams/unsent_progress.hpp"

#include <utility>

namespace rkllm_mcp {

void UnsentProgress::add(const Json& params) {
  if (!params.is_object()) return;
  Json update = Json::object();
  for (const char* name : {"progress", "total"}) {
    const auto found = params.find(name);
    if (found != params.end() && found->is_number()) update[name] = *found;
  }
  if (!update.contains("progress")) return;
  update_ = std::move(update);
  const auto message = params.find("message");
  const bool has_message = message != params.end() && message->is_string();
  if (!joins()) message_.clear();
  if (has_message) message_ += message->get_ref<const std::string&>();
}

Json UnsentProgress::take() {
  Json params = *std::exchange(update_, std::nullopt);
  if (!message_.empty()) params["message"] = std::exchange(message_, {});
  return params;
}

}  // namespace rkllm_mcp
