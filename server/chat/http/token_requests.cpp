#include "chat/http/token_requests.hpp"

#include "chat/dialects/field_table.hpp"
#include "chat/turn/turn_error.hpp"

#include <rkllm_mcp/json_reader.hpp>

#include <stdexcept>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

TurnError no_tokenizer() {
  return TurnError::not_supported("",
                                  "the runtime has no call that makes tokens of a text, and beside the model there is "
                                  "no tokenizer.json that is understood here");
}

// Calls `action`; what it throws is of this request.
template <typename Action>
auto of_text(const Action& action) {
  try {
    return action();
  } catch (const std::runtime_error& error) {
    throw TurnError(ErrorKind::kRuntimeFailed, error.what());
  }
}

std::string model_of(const JsonReader& request) {
  const auto model = request.find("model");
  return model ? model->text() : std::string();
}

// Bytes that are no text stand as numbers.
Json piece_of(const std::string& text) {
  const Json piece(text);
  try {
    (void)piece.dump();
    return piece;
  } catch (const Json::exception&) {
    Json bytes = Json::array();
    for (const char byte : text) bytes.push_back(static_cast<unsigned char>(byte));
    return bytes;
  }
}

std::string written(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

TokenizeRequest read_tokenize(const Json& json) {
  TokenizeRequest result;
  read_request(json, [&result](const JsonReader& request) {
    result.model = model_of(request);
    const auto content = request.find("content");
    if (!content) throw InvalidParams(request.path_of("content"), "missing");
    result.content = content->text();
    const auto is_set = [&request](const char* name, bool otherwise) {
      const auto given = request.find(name);
      return given ? given->boolean() : otherwise;
    };
    result.options.with_special = is_set("add_special", false);
    result.options.finds_added = is_set("parse_special", true);
    result.with_pieces = is_set("with_pieces", false);
  });
  return result;
}

DetokenizeRequest read_detokenize(const Json& json) {
  DetokenizeRequest result;
  read_request(json, [&result](const JsonReader& request) {
    result.model = model_of(request);
    const auto tokens = request.find("tokens");
    if (!tokens) throw InvalidParams(request.path_of("tokens"), "missing");
    for (std::size_t n = 0; n < tokens->array().size(); ++n) {
      result.tokens.push_back(tokens->element(n).integer<TokenId>(0));
    }
  });
  return result;
}

std::string tokenize_reply(const TokenizeRequest& request, const Tokenizer* tokenizer) {
  if (tokenizer == nullptr) throw no_tokenizer();
  const auto tokens = of_text([&] { return tokenizer->encode(request.content, request.options); });
  if (!request.with_pieces) return written({{"tokens", tokens}});
  Json pieces = Json::array();
  for (const TokenId token : tokens) {
    pieces.push_back({{"id", token}, {"piece", piece_of(tokenizer->text_of(token).value_or(""))}});
  }
  return written({{"tokens", std::move(pieces)}});
}

std::string detokenize_reply(const DetokenizeRequest& request, const Tokenizer* tokenizer) {
  if (tokenizer == nullptr) throw no_tokenizer();
  for (std::size_t n = 0; n < request.tokens.size(); ++n) {
    if (!tokenizer->text_of(request.tokens[n])) {
      throw TurnError::bad_field("tokens", "the tokenizer has no token " + std::to_string(request.tokens[n]));
    }
  }
  return written({{"content", tokenizer->decode(request.tokens).value_or("")}});
}

TokenCount tokens_of_prompt(std::string_view prompt, const Tokenizer* tokenizer) {
  if (tokenizer != nullptr) {
    const auto tokens = of_text([&] { return tokenizer->encode(prompt, {.with_special = true}); });
    return {static_cast<std::int64_t>(tokens.size()), false};
  }
  constexpr std::size_t kBytesOfToken = 4;
  return {static_cast<std::int64_t>((prompt.size() + kBytesOfToken - 1) / kBytesOfToken), true};
}

}  // namespace rkllm_mcp::chat
