// Models by the names that the settings give them (`models`): rkllm_init {"model":"big"} is made with the preset's
// parameters. All calls by name, those of clients and those of the server itself, go through here; nothing behind it
// knows of presets.
#pragma once

#include "backend.hpp"
#include "mcp/catalogue.hpp"
#include "settings/refused.hpp"

#include <rkllm_mcp/json.hpp>

#include <asio/io_context.hpp>

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace rkllm_mcp {

// The parameters with the member `model` replaced by what the preset of that name has; fields that the call itself has
// in `param` go first, at every depth. `models` as in the settings. Throws InvalidParams if there is no such preset.
Json with_preset(const Json& models, Json params);

// Fields of presets that no version of the API has, by their path in the settings: "models.big.param.top_kk".
std::vector<Complaint> unknown_preset_fields(const Json& models);

// Lets the tools that create handles take `model`, if there are presets.
void offer_presets(Catalogue& catalogue, std::span<const Method> methods, const Json& models);

// Replaces names by presets in the calls that create handles, and hands them on.
//
// Threads: as Backend; start() on the event loop.
class PresetBackend final : public Backend {
 public:
  // `models` gives what the settings have now, and whatever else has a name.
  using ModelsFunction = std::function<Json()>;
  PresetBackend(asio::io_context& loop, ModelsFunction models, std::shared_ptr<Backend> backend)
      : loop_(loop), models_(std::move(models)), backend_(std::move(backend)) {}

  CallId start(CallRequest request) override;
  void cancel(CallId id) override { backend_->cancel(id); }
  void give_up(CallId id, const RpcError& why) override { backend_->give_up(id, why); }

 private:
  asio::io_context& loop_;
  const ModelsFunction models_;
  const std::shared_ptr<Backend> backend_;
};

}  // namespace rkllm_mcp
