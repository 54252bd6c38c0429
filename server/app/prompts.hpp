// Ready-made questions for the model behind a client: how this server is put to use.
#pragma once

#include "backend/handle_resources.hpp"
#include "mcp/catalogue.hpp"

#include <string_view>

namespace rkllm_mcp {

struct PromptKnowledge {
  HandlesFunction handles;    // those that exist
  CompleteFunction models;    // names and paths of models
  Json presets;               // those of the settings, by name
  std::string_view document;  // api_document() of the ABI set
};

// set_up_model, chat, summarize, use_tools.
void add_prompts(Catalogue& catalogue, const PromptKnowledge& knowledge);

}  // namespace rkllm_mcp
