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
void offer_presets(mcp::Catalogue& catalogue, std::span<const Method> methods, const Json& models);

// Replaces names by presets in the calls that create handles, and hands all calls on to the backend of the runtime that
// is served when they come.
//
// Event loop only.
class PresetBackend final : public Backend {
 public:
  // `models` gives what the settings have now, and whatever else has a name.
  using ModelsFunction = std::function<Json()>;
  // `backend` gives the one that a call goes to; it is replaced only while it has no call in progress.
  using BackendFunction = std::function<Backend&()>;
  PresetBackend(asio::io_context& loop, ModelsFunction models, BackendFunction backend)
      : loop_(loop), models_(std::move(models)), backend_(std::move(backend)) {}

  CallId start(CallRequest request) override;
  void cancel(CallId id) override { backend_().cancel(id); }
  void give_up(CallId id, const RpcError& why) override { backend_().give_up(id, why); }

 private:
  asio::io_context& loop_;
  const ModelsFunction models_;
  const BackendFunction backend_;
};

}  // namespace rkllm_mcp
