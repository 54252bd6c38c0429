// Ollama's POST /api/chat and /api/generate as a turn.
#pragma once

#include "chat/dialects/field_table.hpp"
#include "chat/turn/turn.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

std::span<const Field> ollama_chat_fields();
std::span<const Field> ollama_generate_fields();
std::span<const Field> ollama_option_fields();  // the members of `options`

// What is to be done with the model.
enum class OllamaWish { kAnswer, kLoad, kUnload };

struct OllamaRequest {
  Turn turn;
  OllamaWish wish = OllamaWish::kAnswer;
  bool stream = true;
  std::vector<std::string> ignored{};
};

// Throws TurnError.
OllamaRequest read_ollama_chat(const Json& request);
OllamaRequest read_ollama_generate(const Json& request);

// 300, "300", "5m", "1h30m", -1: seconds if there is no unit; below 0 means for ever. Throws InvalidParams.
KeepAlive read_keep_alive(const JsonReader& value);

}  // namespace rkllm_mcp::chat
