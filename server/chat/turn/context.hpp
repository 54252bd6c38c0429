// How a turn fits into a model's context, and what it has used of it. Pure functions over what the runtime tells: it
// has no call that counts a prompt's tokens, so the number is known only after a run. A tokenizer beside the model is
// not asked: where it is not quite the model's an answer would be cut, and the run costs little
// (docs/decisions/tokenizer.md).
#pragma once

#include "chat/turn/answer.hpp"
#include "chat/turn/turn.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace rkllm_mcp::chat {

// The tokens that a model has room for: `max_context_len` rounded up to 32, as the runtime does.
std::int64_t context_tokens(std::int64_t max_context_len);

// A prompt never has more tokens than bytes, and one for the beginning of the text.
std::int64_t most_prompt_tokens(std::size_t prompt_bytes);

struct PromptLength {
  std::size_t bytes = 0;
  std::optional<std::int64_t> tokens{};  // where they have been counted
};

// Run with this limit. The answer ends with kLength when it has reached it.
struct RunWithLimit {
  std::int64_t max_new_tokens;

  bool operator==(const RunWithLimit&) const = default;
};
// The prompt's tokens have to be known first: by a run of one token, whose size of the KV cache is the prompt's. That
// run is no waste: the next one finds the whole prompt in the cache.
struct CountFirst {
  bool operator==(const CountFirst&) const = default;
};
// The prompt leaves no room for an answer.
struct TooLong {
  bool operator==(const TooLong&) const = default;
};
using ContextPlan = std::variant<RunWithLimit, CountFirst, TooLong>;

// `context` is context_tokens(). Nothing in `max_tokens` means the rest of the context.
ContextPlan plan_run(std::int64_t context, const PromptLength& prompt, std::optional<std::int64_t> max_tokens);

// The tokens of a prompt, from the KV cache's size after a run over it that generated so many: the last one generated
// is not in the cache. Nothing if the figures cannot be true.
std::optional<std::int64_t> prompt_tokens_after(std::int64_t kv_size, std::int64_t generated);

// What is known of a run that has ended.
struct RunFigures {
  std::int64_t generated = 0;               // callbacks with a token, the one that ended the text included
  std::int64_t reasoning = 0;               // how many of `generated` are of the thinking
  std::optional<std::int64_t> kv_size{};    // after the run
  std::optional<std::int64_t> prefilled{};  // perf.prefill_tokens, if it is true; 0: all but the last token were cached
};

// The tokens of a prompt that had not to be computed, where both figures are known.
std::optional<std::int64_t> cached_tokens(std::optional<std::int64_t> prompt, std::optional<std::int64_t> prefilled);
Usage usage_of(const RunFigures& figures);
// The sum over the answers of one request (n above 1): the prompt counts once.
Usage sum_of_answers(const std::vector<Usage>& answers);
// The usage of two runs that an answer has taken, each with a prompt of its own. A figure that one lacks is unknown.
Usage sum_of_runs(const Usage& one, const Usage& other);
// The times of both, one after the other; the first token is that of the first.
Timings sum_of_runs(const Timings& one, const Timings& other);

// No model holds a longer prompt: it would have 32 bytes in each of 32,768 tokens.
constexpr std::size_t kMostPromptBytes = std::size_t{1} << 20U;

// The bytes of these messages that may go into a prompt: texts, calls, and the thinking after the last user message.
std::size_t bytes_of(const std::vector<ChatMessage>& messages);
// Bytes of a turn that may go into its prompt: messages, offered tools, and the schema that is asked for. The prompt
// has marks and escapes besides; a family may leave out thinking and names.
std::size_t bytes_of(const Turn& turn);

// Takes the oldest turns out of the conversation, until so many bytes have been taken, where each message has
// `bytes_around` besides what it says: at least one turn, if any can be taken. A turn is a user message and all up to
// the next one; system messages stay, and so does the last turn. The number of messages taken.
std::size_t drop_oldest_turns(std::vector<ChatMessage>& messages, std::size_t bytes, std::size_t bytes_around);

}  // namespace rkllm_mcp::chat
