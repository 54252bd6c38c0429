// Ready-made questions for the model behind a client: how this server is put to use.
#pragma once

#include "backend/handle_resources.hpp"
#include "mcp/catalogue.hpp"

#include <string_view>

namespace rkllm_mcp {

struct PromptKnowledge {
  HandlesFunction handles;       // those that exist
  mcp::CompleteFunction models;  // names and paths of models
  Json presets;                  // those of the settings, by name
  std::string_view document;     // api_document() of the ABI set
  bool lists_functions;          // the list of tools has the C functions: models can be asked to call them
};

// Adds set_up_model, chat and summarize, which have the client call C functions if `lists_functions`, else tools of the
// chat set; and use_tools, only if `lists_functions`.
void add_prompts(mcp::Catalogue& catalogue, const PromptKnowledge& knowledge);

}  // namespace rkllm_mcp
