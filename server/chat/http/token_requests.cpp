#include "chat/http/token_requests.hpp"

#include "chat/dialects/field_table.hpp"
#include "chat/turn/turn_error.hpp"
#include "text/utf8.hpp"

#include <rkllm_mcp/json_reader.hpp>

#include <stdexcept>
#include <string_view>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

TurnError no_tokenizer() {
  return TurnError::not_supported("",
                                  "the runtime has no call that makes tokens of a text, and beside the model there is "
                                  "no tokenizer.json that is understood here");
}

std::string model_of(const JsonReader& request) {
  const auto model = request.find("model");
  return model ? model->text() : std::string();
}

// A longer one fits into no model of these boards.
constexpr std::size_t kLongestContent = std::size_t{1} << 20U;

// Bytes that are no text stand as numbers.
std::string piece_of(const std::string& text) {
  if (is_valid_utf8(text)) return Json(text).dump();
  Json bytes = Json::array();
  for (const char byte : text) bytes.push_back(static_cast<unsigned char>(byte));
  return bytes.dump();
}

std::vector<TokenId> tokens_of(const TokenizeRequest& request, const Tokenizer& tokenizer) {
  if (request.content.size() > kLongestContent) {
    throw TurnError::bad_field("content", "more than " + std::to_string(kLongestContent) + " bytes");
  }
  try {
    return tokenizer.encode(request.content, request.options);
  } catch (const std::runtime_error& error) {
    throw TurnError::bad_field("content", error.what());
  }
}

}  // namespace

TokenizeRequest read_tokenize(const Json& json) {
  TokenizeRequest result;
  read_request(json, [&result](const JsonReader& request) {
    result.model = model_of(request);
    result.content = required_member(request, "content")->text();
    const auto is_set = [&request](const char* name, bool otherwise) {
      const auto given = request.find(name);
      return given ? given->boolean() : otherwise;
    };
    result.options.with_special = is_set("add_special", false);
    result.options.finds_special = is_set("parse_special", true);
    result.with_pieces = is_set("with_pieces", false);
  });
  return result;
}

DetokenizeRequest read_detokenize(const Json& json) {
  DetokenizeRequest result;
  read_request(json, [&result](const JsonReader& request) {
    result.model = model_of(request);
    const auto tokens = required_member(request, "tokens");
    for (std::size_t n = 0; n < tokens->array().size(); ++n) {
      result.tokens.push_back(tokens->element(n).integer<TokenId>(0));
    }
  });
  return result;
}

std::string tokenize_reply(const TokenizeRequest& request, const Tokenizer* tokenizer, std::size_t most) {
  if (tokenizer == nullptr) throw no_tokenizer();
  constexpr std::string_view kEnd = "]}";
  std::string reply = R"({"tokens":[)";
  for (const TokenId token : tokens_of(request, *tokenizer)) {
    if (reply.back() != '[') reply += ',';
    const std::string id = std::to_string(token);
    reply += request.with_pieces
                 ? R"({"id":)" + id + R"(,"piece":)" + piece_of(tokenizer->text_of(token).value_or("")) + "}"
                 : id;
    if (reply.size() + kEnd.size() > most) {
      throw TurnError::bad_field("content", "its tokens are longer than limits.max_reply_bytes");
    }
  }
  return reply.append(kEnd);
}

std::string detokenize_reply(const DetokenizeRequest& request, const Tokenizer* tokenizer) {
  if (tokenizer == nullptr) throw no_tokenizer();
  for (std::size_t n = 0; n < request.tokens.size(); ++n) {
    if (!tokenizer->text_of(request.tokens[n])) {
      throw TurnError::bad_field("tokens", "the tokenizer has no token " + std::to_string(request.tokens[n]));
    }
  }
  const Json reply{{"content", tokenizer->decode(request.tokens).value_or("")}};
  return reply.dump(-1, ' ', false, Json::error_handler_t::replace);
}

TokenCount estimated_tokens(std::size_t prompt_bytes) {
  constexpr std::size_t kBytesOfToken = 4;
  return {static_cast<std::int64_t>((prompt_bytes + kBytesOfToken - 1) / kBytesOfToken), true};
}

TokenCount tokens_of_prompt(std::string_view prompt, const Tokenizer* tokenizer, std::function<void()> keep_going) {
  if (tokenizer != nullptr && prompt.size() <= kLongestContent) {
    try {
      const auto tokens = tokenizer->encode(prompt, {.with_special = true, .keep_going = std::move(keep_going)});
      return {static_cast<std::int64_t>(tokens.size()), false};
    } catch (const std::runtime_error&) {  // it cannot be divided as the file says
    }
  }
  return estimated_tokens(prompt.size());
}

}  // namespace rkllm_mcp::chat
