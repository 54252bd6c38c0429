// What can go wrong with a turn, in kinds that each dialect has a form for. Thrown while a request is read and while a
// turn is made; a copy of it can be kept and sent later, in the middle of a stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rkllm_mcp::chat {

enum class ErrorKind {
  kUnknownModel,
  kNotKept,        // a response or conversation that is not (or no longer) here
  kContext,        // the prompt is longer than the context
  kBadField,       // the request is wrong, and says where
  kTooLarge,       // the request has more bytes than are allowed
  kNotSupported,   // right, but not possible with this model, runtime or server
  kQueueFull,      // too many wait already
  kNoRoom,         // the model cannot be loaded now
  kUnauthorized,   // no token, or an unknown one
  kForbidden,      // a token that may not do this
  kUpstream,       // another server that was asked has failed
  kInvalidAnswer,  // the model has not given the structure that was asked for, after all tries
  kRuntimeFailed,  // the model's runtime refused or died
  kInternal,       // our own fault
};

class TurnError : public std::runtime_error {
 public:
  TurnError(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

  ErrorKind kind() const noexcept { return kind_; }
  // kBadField, kNotSupported: the field's path in the request, "messages[0].role"; empty: the whole request.
  const std::string& field() const noexcept { return field_; }
  // kContext: nothing where it is unknown.
  std::optional<std::int64_t> prompt_tokens() const noexcept { return prompt_tokens_; }
  std::optional<std::int64_t> context_tokens() const noexcept { return context_tokens_; }
  // kQueueFull, kNoRoom: when it may be worth a try again.
  std::optional<std::int64_t> retry_after_s() const noexcept { return retry_after_s_; }

  static TurnError bad_field(std::string_view field, std::string_view complaint);
  static TurnError not_supported(std::string_view field, std::string_view complaint);
  // The error for a handle that takes so many prompts in each run: chats and embeddings want one.
  static TurnError takes_batches(std::int64_t n_batch);
  static TurnError unknown_model(std::string_view model);
  static TurnError context_exceeded(std::optional<std::int64_t> prompt_tokens, std::int64_t context_tokens);
  // It has more bytes than any model's context holds; `context_tokens`: what this model's does, where that is known.
  static TurnError prompt_too_long(std::size_t most_bytes, std::optional<std::int64_t> context_tokens = {});
  // This error, but of another field of the request.
  TurnError of_field(std::string_view field) const;
  // `kind` is kQueueFull or kNoRoom.
  static TurnError try_later(ErrorKind kind, const std::string& message, std::int64_t retry_after_s);

 private:
  ErrorKind kind_;
  std::string field_;
  std::optional<std::int64_t> prompt_tokens_;
  std::optional<std::int64_t> context_tokens_;
  std::optional<std::int64_t> retry_after_s_;
};

}  // namespace rkllm_mcp::chat
