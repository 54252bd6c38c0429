// What is told of models, in each publisher's words: lists, one of them, what is loaded. What is not known is null, and
// never guessed. Pure functions.
#pragma once

#include "chat/turn/model_lender.hpp"

#include <rkllm_mcp/json.hpp>

#include <vector>

namespace rkllm_mcp::chat {

Json openai_model(const ModelDescription& model);
Json openai_models(const std::vector<ModelDescription>& models);
Json anthropic_model(const ModelDescription& model);
Json anthropic_models(const std::vector<ModelDescription>& models);

Json ollama_tags(const std::vector<ModelDescription>& models);
Json ollama_running(const std::vector<ModelDescription>& models);  // GET /api/ps
Json ollama_show(const ModelDescription& model);

// llama.cpp's GET /props and /slots.
Json llama_props(const ModelDescription& model);
Json llama_slots(const std::vector<ModelDescription>& models);

}  // namespace rkllm_mcp::chat
