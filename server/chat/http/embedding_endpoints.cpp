#include "chat/http/embedding_endpoints.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

std::optional<EmbeddingSurface> embedding_surface_at(std::string_view path) {
  if (path == "/v1/embeddings") return EmbeddingSurface::kOpenAi;
  if (path == "/api/embed") return EmbeddingSurface::kOllama;
  if (path == "/api/embeddings") return EmbeddingSurface::kOllamaOlder;
  return std::nullopt;
}

http::Headers headers_of(const EmbeddingRequest& request, const Embeddings& made) {
  http::Headers headers = ignored_fields(request.ignored);
  headers.add("x-rkllm-queue-position", std::to_string(made.queue_position));
  if (!made.cut.empty()) headers.add("x-rkllm-cut-inputs", cut_inputs_header(made.cut));
  return headers;
}

std::size_t numbers_in(const Embeddings& made) {
  std::size_t count = 0;
  for (const auto& each : made.vectors) count += each.size();
  return count;
}

}  // namespace

bool EmbeddingEndpoints::post(Visit& visit, const Json& body) {
  const auto surface = embedding_surface_at(visit.path);
  if (surface) embed(*surface, visit, body);
  return surface.has_value();
}

void EmbeddingEndpoints::embed(EmbeddingSurface surface, Visit& visit, const Json& body) {
  const Immutable request(read_embedding(surface, body));  // shared by the callbacks
  const std::uint64_t number = open_.new_number();
  const auto done = [this, visit = visit.shared_from_this(), number, surface, request](Embeddings made) {
    open_.end(number, [&] { answer(surface, *visit, request, std::move(made)); });
  };
  const auto failed = [this, visit = visit.shared_from_this(), number](const TurnError& error) {
    open_.end(number, [&] { visit->refuse(error); });
  };
  const auto check_first = [visit = visit.shared_from_this(), request](const std::vector<float>& first,
                                                                       std::size_t count) {
    check_room(*visit, *request, first, count);
  };
  auto running = host_.embed(request->wish, visit.asker, visit.peer, done, failed, check_first);
  open_.keep(number, visit, std::move(running));
}

void EmbeddingEndpoints::check_room(Visit& visit, const EmbeddingRequest& request, const std::vector<float>& first,
                                    std::size_t count) {
  const std::size_t text = count * reply_bytes_of(request, first);
  // Texts of numbers are not all of one length; whether the answer is too long is seen in the end.
  constexpr std::size_t kUncertain = 8;
  if (text - text / kUncertain > visit.rules().most_reply_bytes) throw too_long_answer(request.wish.field, text);
  if (!visit.memory.grow(text + count * first.size() * (sizeof(float) + sizeof(Json)))) throw no_memory_now();
}

// Millions of numbers are not written on the event loop.
void EmbeddingEndpoints::answer(EmbeddingSurface surface, Visit& visit, const Immutable<EmbeddingRequest>& request,
                                Embeddings made) {
  const auto send = [visit = visit.shared_from_this(), request,
                     headers = headers_of(*request, made)](std::string text) {
    visit->memory.set(0);  // from here on it is the exchange that counts the text
    visit->answer_long_text(std::move(text), request->wish.field, headers);
  };
  constexpr std::size_t kWrittenAtOnce = 4096;
  if (numbers_in(made) <= kWrittenAtOnce || !beside_.start()) return send(embedding_reply(surface, *request, made));
  const auto text = std::make_shared<std::string>();
  const auto numbers = std::make_shared<Embeddings>(std::move(made));  // gone when they are written
  beside_.run(
      [text, surface, request, numbers] {
        *text = embedding_reply(surface, *request, *numbers);
        *numbers = {};
      },
      [text, send] { send(std::move(*text)); });
}

}  // namespace rkllm_mcp::chat
