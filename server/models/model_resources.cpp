#include "models/model_resources.hpp"

#include "jsonrpc/envelope.hpp"

#include <optional>
#include <utility>

namespace rkllm_mcp {
namespace {

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace

Json description_of(const chat::ModelDescription& model) {
  Json all{{"name", model.name},
           {"aliases", model.aliases},
           {"path", model.path.empty() ? Json(nullptr) : Json(model.path)},
           {"size", or_null(model.bytes)},
           {"modified_s", or_null(model.modified_s)},
           {"platform", or_null(model.platform)},
           {"context", or_null(model.context)},
           {"state", chat::word_for(model.state)},
           {"loaded", model.state == chat::ModelState::kLoaded},
           {"loaded_since_s", or_null(model.loaded_since_s)},
           {"expires_s", or_null(model.expires_s)},
           {"load_s", or_null(model.load_s)},
           {"queued", model.waiting}};
  if (model.state == chat::ModelState::kLoading) {
    all["progress"] = Json{{"bytes", or_null(model.progress.bytes)},
                           {"total", or_null(model.progress.total)},
                           {"seconds_left", or_null(model.progress.seconds_left)}};
  }
  return all;
}

void add_model_resources(Catalogue& catalogue, const ServerModels& models, std::function<bool()> is_simulated) {
  catalogue.resources.push_back(
      {std::string(kModelsUri), "models", "Models by name",
       "Presets and files that can be used by name: size, platform and context where they are known, and what is "
       "loaded.",
       kJsonType, [&models, is_simulated = std::move(is_simulated)] {
         Json all = Json::array();
         for (const auto& model : models.models(chat::Asker())) all.push_back(description_of(model));
         return ResourceText{to_text(Json{{"models", std::move(all)}, {"simulated", is_simulated()}})};
       }});
}

}  // namespace rkllm_mcp
