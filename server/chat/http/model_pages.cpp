#include "chat/http/model_pages.hpp"

#include "chat/dialects/reply_stream.hpp"
#include "chat/templates/family.hpp"
#include "chat/turn/model_text.hpp"
#include "clock.hpp"

#include <chrono>
#include <optional>
#include <string_view>

namespace rkllm_mcp::chat {
namespace {

// A time far away: clients want one, and a model that stays has none.
constexpr std::string_view kNever = "9999-12-31T23:59:59Z";

const Family* family_of(const ModelDescription& model) { return family_of_model(model.template_name, model.path); }

Json text_or_null(const std::optional<std::string>& text) { return text ? Json(*text) : Json(nullptr); }

std::string time_text(std::int64_t seconds) {
  return iso_time(std::chrono::system_clock::time_point(std::chrono::seconds(seconds)));
}

// What only this server knows, under one name that no client of theirs looks at.
Json own_part(const ModelDescription& model) {
  const auto given = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  Json own = {{"state", word_for(model.state)},
              {"path", given(model.path)},
              {"handle", given(model.handle)},
              {"platform", text_or_null(model.platform)},
              {"context", number_or_null(model.context)},
              {"bytes", number_or_null(model.bytes)},
              {"waiting", model.waiting}};
  if (model.state == ModelState::kLoading) {
    own["loading"] = {{"bytes", number_or_null(model.progress.bytes)},
                      {"total", number_or_null(model.progress.total)},
                      {"seconds_left", or_null(model.progress.seconds_left)}};
  }
  if (!model.aliases.empty()) own["aliases"] = model.aliases;
  if (model.is_profile) own["profile"] = true;
  const Family* const family = family_of(model);
  own["template"] = family == nullptr ? Json(nullptr) : Json(family->name);
  return own;
}

// Where Ollama has a string, so do these pages: clients with types (Zed) list no model at all if one of them is null.
// What Ollama does not know it says in the same words.
constexpr std::string_view kUnknown;
constexpr std::string_view kUnknownTime = "0001-01-01T00:00:00Z";

std::string_view family_name(const Family* family) {
  return family == nullptr ? kUnknown : std::string_view(family->name);
}

// The files say none of these in a form that could be read.
Json details_of(const ModelDescription& model) {
  const Family* const family = family_of(model);
  return {{"parent_model", ""},
          {"format", "rkllm"},
          {"family", family_name(family)},
          {"families", family == nullptr ? Json(nullptr) : Json::array({family->name})},
          {"parameter_size", kUnknown},
          {"quantization_level", kUnknown}};
}

std::string digest_of(const ModelDescription& model) {
  return model.sha256.value_or(std::string(kUnknown));  // it is being computed
}

std::string modified_at(const ModelDescription& model) {
  return model.modified_s ? time_text(*model.modified_s) : std::string(kUnknownTime);
}

Json capabilities_of(const ModelDescription& model, const Family* family) {
  Json capabilities = Json::array({"completion"});
  if (family == nullptr) return capabilities;
  // A profile has its own tools; those of the client are not used.
  if (!model.is_profile && !family->tools.definitions.empty()) capabilities.push_back("tools");
  if (!family->thinking.open.empty()) capabilities.push_back("thinking");
  return capabilities;
}

}  // namespace

Json openai_model(const ModelDescription& model) {
  return {{"id", model.name},
          {"object", "model"},
          {"created", model.modified_s.value_or(0)},
          {"owned_by", "rkllm-mcp"},
          {"rkllm", own_part(model)}};
}

Json openai_models(const std::vector<ModelDescription>& models) {
  Json data = Json::array();
  for (const ModelDescription& model : models) data.push_back(openai_model(model));
  return {{"object", "list"}, {"data", std::move(data)}};
}

Json anthropic_model(const ModelDescription& model) {
  return {{"type", "model"},
          {"id", model.name},
          {"display_name", model.name},
          {"created_at", time_text(model.modified_s.value_or(0))}};
}

Json anthropic_models(const std::vector<ModelDescription>& models) {
  Json data = Json::array();
  for (const ModelDescription& model : models) data.push_back(anthropic_model(model));
  const Json first = models.empty() ? Json(nullptr) : Json(models.front().name);
  const Json last = models.empty() ? Json(nullptr) : Json(models.back().name);
  return {{"data", std::move(data)}, {"has_more", false}, {"first_id", first}, {"last_id", last}};
}

Json ollama_tags(const std::vector<ModelDescription>& models) {
  Json rows = Json::array();
  for (const ModelDescription& model : models) {
    rows.push_back({{"name", model.name},
                    {"model", model.name},
                    {"modified_at", modified_at(model)},
                    {"size", model.bytes.value_or(0)},  // a preset's file may not be there
                    {"digest", digest_of(model)},
                    {"details", details_of(model)}});
  }
  return {{"models", std::move(rows)}};
}

Json ollama_running(const std::vector<ModelDescription>& models) {
  Json rows = Json::array();
  for (const ModelDescription& model : models) {
    if (model.is_profile || model.state != ModelState::kLoaded) continue;
    rows.push_back({{"name", model.name},
                    {"model", model.name},
                    {"size", model.bytes.value_or(0)},  // a preset's file may not be there
                    {"digest", digest_of(model)},
                    {"details", details_of(model)},
                    {"expires_at", model.expires_s ? time_text(*model.expires_s) : std::string(kNever)},
                    {"size_vram", 0},  // boards have none
                    {"context_length", number_or_null(model.context)}});
  }
  return {{"models", std::move(rows)}};
}

Json ollama_show(const ModelDescription& model) {
  const Family* const family = family_of(model);
  const std::string architecture = family == nullptr ? "unknown" : family->name;
  Json info = {{"general.architecture", family == nullptr ? Json(nullptr) : Json(family->name)},
               {"general.basename", model.name}};
  info[architecture + ".context_length"] = number_or_null(model.context);
  return {{"modelfile", ""},
          {"parameters", ""},
          {"template", ""},  // in a language that no family here is written in
          {"details", details_of(model)},
          {"model_info", std::move(info)},
          {"capabilities", capabilities_of(model, family)},
          {"modified_at", modified_at(model)}};
}

Json llama_props(const ModelDescription& model) {
  return {{"default_generation_settings", {{"n_ctx", number_or_null(model.context)}}},
          {"total_slots", 1},
          {"model_path", model.path},
          {"model_alias", model.name},
          {"chat_template", nullptr},  // in a language that no family here is written in
          {"modalities", {{"vision", false}, {"audio", false}}}};
}

Json llama_slots(const std::vector<ModelDescription>& models) {
  Json slots = Json::array();
  for (const ModelDescription& model : models) {
    if (model.is_profile || model.state != ModelState::kLoaded) continue;
    slots.push_back({{"id", slots.size()},
                     {"model", model.name},
                     {"n_ctx", number_or_null(model.context)},
                     {"is_processing", model.waiting > 0}});
  }
  return slots;
}

}  // namespace rkllm_mcp::chat
