#include "chat/turn/turn_error.hpp"

#include <rkllm_mcp/errors.hpp>

namespace rkllm_mcp::chat {
namespace {

std::string field_and_complaint(std::string_view field, std::string_view complaint) {
  return field.empty() ? std::string(complaint) : std::string(field) + ": " + std::string(complaint);
}

}  // namespace

TurnError TurnError::bad_field(std::string_view field, std::string_view complaint) {
  TurnError error(ErrorKind::kBadField, without_nul(field_and_complaint(field, complaint)));
  error.field_ = field;
  return error;
}

TurnError TurnError::not_supported(std::string_view field, std::string_view complaint) {
  TurnError error(ErrorKind::kNotSupported, without_nul(field_and_complaint(field, complaint)));
  error.field_ = field;
  return error;
}

TurnError TurnError::unknown_model(std::string_view model) {
  TurnError error(ErrorKind::kUnknownModel,
                  without_nul("model '" + shortened(model) + "' not found; GET /v1/models lists what there is"));
  error.field_ = "model";
  return error;
}

TurnError TurnError::context_exceeded(std::optional<std::int64_t> prompt_tokens, std::int64_t context_tokens) {
  const std::string length = prompt_tokens ? std::to_string(*prompt_tokens) + " tokens" : "more tokens than fit";
  // Clients look for "prompt is too long" and for "context length": both words have to stay.
  TurnError error(ErrorKind::kContext, "prompt is too long: it has " + length + ", and the model's context length is " +
                                           std::to_string(context_tokens) +
                                           " tokens, of which an answer takes at least 1");
  error.field_ = "messages";
  error.prompt_tokens_ = prompt_tokens;
  error.context_tokens_ = context_tokens;
  return error;
}

TurnError TurnError::of_field(std::string_view field) const {
  TurnError error = *this;
  error.field_ = field;
  return error;
}

TurnError TurnError::takes_batches(std::int64_t n_batch) {
  return not_supported("model",
                       "it is loaded for " + std::to_string(n_batch) +
                           " prompts in each run; chats and embeddings take \"n_batch\": 1 in extend_param, of "
                           "rkllm_init or of the preset (models.NAME.param)");
}

TurnError TurnError::prompt_too_long(std::size_t most_bytes, std::optional<std::int64_t> context_tokens) {
  const std::string context =
      context_tokens ? "; this one's is " + std::to_string(*context_tokens) + " tokens" : std::string();
  TurnError error(ErrorKind::kContext,
                  "prompt is too long: with its tools and the schema of its answer it has more than " +
                      std::to_string(most_bytes) + " bytes, which no model's context length has room for" + context);
  error.field_ = "messages";
  error.context_tokens_ = context_tokens;
  return error;
}

TurnError TurnError::try_later(ErrorKind kind, const std::string& message, std::int64_t retry_after_s) {
  TurnError error(kind, message);
  error.retry_after_s_ = retry_after_s;
  return error;
}

}  // namespace rkllm_mcp::chat
