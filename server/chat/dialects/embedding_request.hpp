// Requests for embeddings: OpenAI's POST /v1/embeddings, Ollama's /api/embed and its older /api/embeddings; and their
// answers.
#pragma once

#include "chat/dialects/field_table.hpp"
#include "chat/turn/embedding.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

enum class EmbeddingSurface { kOpenAi, kOllama, kOllamaOlder };

std::span<const Field> embedding_fields(EmbeddingSurface surface);

struct EmbeddingRequest {
  EmbeddingWish wish;
  bool base64 = false;  // OpenAI: little-endian 32 bit floats
  std::vector<std::string> ignored{};
};

// Throws TurnError.
EmbeddingRequest read_embedding(EmbeddingSurface surface, const Json& request);

// How many bytes of the answer one vector takes.
std::size_t reply_bytes_of(const EmbeddingRequest& request, const std::vector<float>& vector);
// Which inputs were cut, for the header x-rkllm-cut-inputs: "0, 3-7"; empty: none.
std::string cut_inputs_header(const std::vector<std::size_t>& cut);

// The body of the answer; it names the model as the client did.
std::string embedding_reply(EmbeddingSurface surface, const EmbeddingRequest& request, const Embeddings& made);

}  // namespace rkllm_mcp::chat
