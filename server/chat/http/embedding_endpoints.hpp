// OpenAI's POST /v1/embeddings, and Ollama's POST /api/embed and /api/embeddings.
//
// Event loop only. An answer of many numbers is written on a thread beside it.
#pragma once

#include "chat/dialects/embedding_request.hpp"
#include "chat/host/chat_host.hpp"
#include "chat/http/visit.hpp"
#include "immutable.hpp"
#include "side_thread.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <vector>

namespace rkllm_mcp::chat {

class EmbeddingEndpoints {
 public:
  // What is given outlives this.
  EmbeddingEndpoints(ChatHost& host, OpenVisits& open, SideThread& beside)
      : host_(host), open_(open), beside_(beside) {}

  // False if the path is another one's. Throws TurnError.
  bool post(Visit& visit, const Json& body);

 private:
  void embed(EmbeddingSurface surface, Visit& visit, const Json& body);
  void answer(EmbeddingSurface surface, Visit& visit, const Immutable<EmbeddingRequest>& request, Embeddings made);
  // Counts what the answer to so many inputs will take; throws TurnError if that is too much.
  static void check_room(Visit& visit, const EmbeddingRequest& request, const std::vector<float>& first,
                         std::size_t count);

  ChatHost& host_;
  OpenVisits& open_;
  SideThread& beside_;
};

}  // namespace rkllm_mcp::chat
