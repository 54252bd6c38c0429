// Ollama's POST /api/pull, /api/show and DELETE /api/delete: what they ask for, and the lines in which a pull tells how
// far it is.
// Pure functions.
#pragma once

#include "chat/dialects/field_table.hpp"
#include "chat/turn/model_store.hpp"

#include <rkllm_mcp/json.hpp>

#include <span>
#include <string>
#include <vector>

namespace rkllm_mcp::chat {

std::span<const Field> ollama_pull_fields();
std::span<const Field> ollama_delete_fields();
std::span<const Field> ollama_show_fields();

struct OllamaStoreRequest {
  std::string model;
  bool stream = true;  // of a pull
  std::vector<std::string> ignored{};
};

// Throw TurnError.
OllamaStoreRequest read_ollama_pull(const Json& request);
OllamaStoreRequest read_ollama_show(const Json& request);
std::vector<std::string> read_ollama_delete(const Json& request);  // at least one

// Lines with their ends.
std::string ollama_pull_line(const PullProgress& progress);
std::string ollama_pull_remark(const std::string& words);  // a line for each of theirs
// `remark`: what was said meanwhile; empty: nothing.
std::string ollama_pull_success(const PulledModel& model, const std::string& remark);

}  // namespace rkllm_mcp::chat
