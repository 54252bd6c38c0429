// What clients may read of the models by name: rkllm://models. Event loop only.
#pragma once

#include "chat/turn/model_text.hpp"
#include "jsonrpc/envelope.hpp"
#include "mcp/catalogue.hpp"
#include "models/server_models.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {

inline constexpr std::string_view kModelsUri = "rkllm://models";

// `is_simulated`: whether the runtime is the simulator. All outlive the catalogue.
inline void add_model_resources(mcp::Catalogue& catalogue, const ServerModels& models,
                                std::function<bool()> is_simulated) {
  catalogue.resources.push_back(
      {std::string(kModelsUri), "models", "Models by name",
       "Presets and files that can be used by name: size, platform and context where they are known, and what is "
       "loaded.",
       mcp::kJsonType, [&models, is_simulated = std::move(is_simulated)] {
         Json all = Json::array();
         for (const auto& model : models.models(chat::Asker())) all.push_back(chat::description_of(model));
         return mcp::ResourceText{to_text(Json{{"models", std::move(all)}, {"simulated", is_simulated()}})};
       }});
}

}  // namespace rkllm_mcp
