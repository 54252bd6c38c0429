// docs/chat.md tells what the tables in the code say, word for word.
#include "chat/dialects/anthropic/anthropic_request.hpp"
#include "chat/dialects/embedding_request.hpp"
#include "chat/dialects/ollama/ollama_request.hpp"
#include "chat/dialects/ollama/ollama_store.hpp"
#include "chat/dialects/openai/openai_chat_request.hpp"
#include "chat/dialects/openai/openai_completion.hpp"
#include "chat/dialects/openai/responses_request.hpp"

#include "support/catch.hpp"

#include <fstream>
#include <iterator>
#include <span>
#include <string>

using namespace rkllm_mcp::chat;

TEST_CASE("docs/chat.md has the table of fields of every request as the code has it") {
  std::ifstream file(CHAT_DOCUMENT);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  REQUIRE_FALSE(text.empty());
  const auto section = [&text](const std::string& title, std::span<const Field> fields) {
    INFO("this is missing in docs/chat.md:\n"
         << "### " << title << "\n\n"
         << field_documentation(fields));
    CHECK(text.find("### " + title + "\n\n" + field_documentation(fields)) != std::string::npos);
  };
  section("`POST /v1/chat/completions`", openai_chat_fields());
  section("`POST /v1/completions`", openai_completion_fields());
  section("`POST /v1/responses`", responses_fields());
  section("`POST /v1/embeddings`", embedding_fields(EmbeddingSurface::kOpenAi));
  section("`POST /api/chat`", ollama_chat_fields());
  section("`POST /api/generate`", ollama_generate_fields());
  section("`options` of Ollama's requests", ollama_option_fields());
  section("`POST /api/embed`", embedding_fields(EmbeddingSurface::kOllama));
  section("`POST /api/embeddings`", embedding_fields(EmbeddingSurface::kOllamaOlder));
  section("`POST /api/pull`", ollama_pull_fields());
  section("`DELETE /api/delete`", ollama_delete_fields());
  section("`POST /api/show`", ollama_show_fields());
  section("`POST /v1/messages` and `/v1/messages/count_tokens`", anthropic_fields());
}
