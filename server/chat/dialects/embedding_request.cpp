#include "chat/dialects/embedding_request.hpp"

#include "chat/dialects/ollama/ollama_request.hpp"
#include "jsonrpc/unread.hpp"

#include <rkllm_mcp/base64.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr std::size_t kMostInputs = 2048;
constexpr std::size_t kMostDimensions = 1'000'000;
constexpr double kNsOfMs = 1e6;

constexpr std::array kOpenAiEmbeddingFields = {
    Field{"model", kHonoured, kTextField, "a model's name"},
    Field{"input", kHonoured, kTextField | kArrayField, "a string, or at most 2048; token numbers are refused"},
    Field{"encoding_format", kHonoured, kTextField, "float or base64 (little-endian 32 bit floats)"},
    Field{"dimensions", kHonoured, kNumberField, "the first so many, normalised again"},
    Field{"user", kIgnored, kTextField, "nothing is stored"},
};

constexpr std::array kOllamaEmbedFields = {
    Field{"model", kHonoured, kTextField, "a model's name"},
    Field{"input", kHonoured, kTextField | kArrayField, "a string, or at most 2048; none: the model is loaded"},
    Field{"truncate", kHonoured, kBooleanField,
          "true, as by default: an input that is too long loses its end (x-rkllm-cut-inputs)"},
    Field{"dimensions", kHonoured, kNumberField, "the first so many, normalised again"},
    Field{"keep_alive", kHonoured, kTextField | kNumberField, "how long the model stays loaded"},
    Field{"options", kIgnored, kObjectField, "none of them matters to embeddings"},
};

constexpr std::array kOllamaEmbeddingsFields = {
    Field{"model", kHonoured, kTextField, "a model's name"},
    Field{"prompt", kHonoured, kTextField,
          "one text; one that is too long loses its end (x-rkllm-cut-inputs); none: the model is loaded"},
    Field{"keep_alive", kHonoured, kTextField | kNumberField, "how long the model stays loaded"},
    Field{"options", kIgnored, kObjectField, "none of them matters to embeddings"},
};

// With nothing to embed Ollama only loads the model.
bool is_nothing(const std::optional<JsonReader>& input) {
  return !input || (input->json().is_string() ? input->text().empty() : input->json() == Json::array());
}

void read_inputs(const JsonReader& input, EmbeddingWish& wish) {
  const auto add = [&wish](const JsonReader& text) {
    if (!text.json().is_string()) text.refuse("expected text; token numbers of another model mean nothing here");
    if (text.text().empty()) text.refuse("expected text that is not empty");
    wish.inputs.push_back(text.text());
  };
  if (!input.json().is_array()) return add(input);
  if (input.json().empty() || input.json().size() > kMostInputs) input.refuse("expected 1 to 2048 texts");
  for (std::size_t i = 0; i < input.json().size(); ++i) add(input.element(i));
}

// The bytes of the floats, the lowest first, whatever this machine does.
std::string base64_of(const std::vector<float>& vector) {
  std::vector<std::byte> bytes;
  bytes.reserve(vector.size() * sizeof(float));
  for (const float value : vector) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    constexpr unsigned kBits = 8;
    for (unsigned shift = 0; shift < sizeof(bits) * kBits; shift += kBits) {
      bytes.push_back(static_cast<std::byte>((bits >> shift) & 0xFFU));
    }
  }
  return encode_base64(bytes);
}

std::string openai_embedding_reply(const EmbeddingRequest& request, const Embeddings& made) {
  Json data = Json::array();
  for (std::size_t i = 0; i < made.vectors.size(); ++i) {
    const auto& vector = made.vectors[i];
    data.push_back({{"object", "embedding"},
                    {"index", i},
                    {"embedding", request.base64 ? Json(base64_of(vector)) : Json(vector)}});
  }
  return to_text({{"object", "list"},
                  {"data", std::move(data)},
                  {"model", request.wish.model},
                  {"usage", {{"prompt_tokens", made.tokens}, {"total_tokens", made.tokens}}}});
}

}  // namespace

std::span<const Field> embedding_fields(EmbeddingSurface surface) {
  switch (surface) {
    case EmbeddingSurface::kOpenAi: return kOpenAiEmbeddingFields;
    case EmbeddingSurface::kOllama: return kOllamaEmbedFields;
    case EmbeddingSurface::kOllamaOlder: return kOllamaEmbeddingsFields;
  }
  return {};
}

EmbeddingRequest read_embedding(EmbeddingSurface surface, const Json& json) {
  EmbeddingRequest result;
  result.wish.field = surface == EmbeddingSurface::kOllamaOlder ? "prompt" : "input";
  result.wish.drops_end = surface != EmbeddingSurface::kOpenAi;
  read_request(json, [surface, &result](const JsonReader& request) {
    result.ignored = check_fields(embedding_fields(surface), request);
    EmbeddingWish& wish = result.wish;
    if (const auto model = request.find("model")) wish.model = model->text();
    const bool only_loads = surface != EmbeddingSurface::kOpenAi && is_nothing(request.find(wish.field));
    if (!only_loads) read_inputs(*required_member(request, wish.field), wish);
    if (const auto dimensions = request.find("dimensions")) {
      wish.dimensions = dimensions->integer<std::size_t>(1, kMostDimensions);
    }
    if (surface == EmbeddingSurface::kOpenAi) {
      if (const auto format = request.find("encoding_format")) {
        if (format->text() != "float" && format->text() != "base64") format->expected("float or base64");
        result.base64 = format->text() == "base64";
      }
      return;
    }
    if (const auto truncate = request.find("truncate")) wish.drops_end = truncate->boolean();
    if (const auto keep = request.find("keep_alive")) wish.keep_alive = read_keep_alive(*keep);
  });
  return result;
}

std::size_t reply_bytes_of(const EmbeddingRequest& request, const std::vector<float>& vector) {
  return (request.base64 ? base64_of(vector) : to_text(Json(vector))).size();
}

// Clients and proxies read headers of a few thousand bytes only.
std::string cut_inputs_header(const std::vector<std::size_t>& cut) {
  constexpr std::size_t kMostBytes = 1000;
  std::string header;
  for (std::size_t first = 0; first < cut.size();) {
    if (header.size() > kMostBytes) return header + ", and " + std::to_string(cut.size() - first) + " more";
    std::size_t last = first;
    while (last + 1 < cut.size() && cut[last + 1] == cut[last] + 1) ++last;
    header += (header.empty() ? "" : ", ") + std::to_string(cut[first]);
    if (last > first) header += "-" + std::to_string(cut[last]);
    first = last + 1;
  }
  return header;
}

std::string embedding_reply(EmbeddingSurface surface, const EmbeddingRequest& request, const Embeddings& made) {
  if (surface == EmbeddingSurface::kOpenAi) return openai_embedding_reply(request, made);
  if (surface == EmbeddingSurface::kOllamaOlder) {
    return to_text(Json{{"embedding", made.vectors.empty() ? Json::array() : Json(made.vectors.front())}});
  }
  return to_text({{"model", request.wish.model},
                  {"embeddings", made.vectors},
                  {"total_duration", static_cast<std::int64_t>(made.total_ms * kNsOfMs)},
                  {"load_duration", static_cast<std::int64_t>(made.load_ms.value_or(0) * kNsOfMs)},
                  {"prompt_eval_count", made.tokens}});
}

}  // namespace rkllm_mcp::chat
