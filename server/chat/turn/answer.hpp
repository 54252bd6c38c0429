// What comes of a turn: events while it is made, and how it ended. Plain values, made by the host and put into words by
// a dialect.
#pragma once

#include "chat/turn/turn.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace rkllm_mcp::chat {

// Pieces of the answer, in order. Text is valid UTF-8 in whole characters and never empty.
struct ThinkingDelta {
  std::string text;

  bool operator==(const ThinkingDelta&) const = default;
};
struct TextDelta {
  std::string text;

  bool operator==(const TextDelta&) const = default;
};
// A tool call comes whole: before its end nobody knows whether it is one.
using AnswerEvent = std::variant<ThinkingDelta, TextDelta, ToolCall>;

enum class Finish {
  kStop,           // the model has ended its turn
  kStopString,     // one of the request's stop strings came
  kLength,         // max_tokens, or the end of the context
  kToolCalls,      // it wants tools to be called
  kContentFilter,  // the guardrail has ended it
};

// Tokens, where they are known: after a run that failed they are not.
struct Usage {
  std::optional<std::int64_t> prompt{};
  std::optional<std::int64_t> cached{};  // of the prompt, those that were there already
  std::optional<std::int64_t> generated{};
  std::optional<std::int64_t> reasoning{};  // of the generated, those of the thinking

  bool operator==(const Usage&) const = default;
};

// Milliseconds, as far as they are known.
struct Timings {
  std::optional<double> load_ms{};         // waiting for the model to be loaded
  std::optional<double> first_token_ms{};  // from the request of the turn, with queue and loading
  std::optional<double> prefill_ms{};
  std::optional<double> generate_ms{};
  // How many tokens came in generate_ms; without the first one, if that came with the prefill.
  std::optional<std::int64_t> timed_tokens{};
  std::optional<double> total_ms{};

  bool operator==(const Timings&) const = default;
};

// What is known when the model is there and its answer is about to begin.
struct TurnBeginning {
  std::vector<std::string> ignored{};  // options that this model or runtime cannot honour
  std::size_t dropped_messages = 0;    // truncate: "oldest_turns"
  Usage usage{};                       // of the prompt, where it has been counted
  std::string conversation{};          // with a profile: which one the turn belongs to; empty: none
  bool search_failed = false;          // with a profile: it answers without the results of a search
};

// How far an answer is while it is made.
struct AnswerProgress {
  std::int64_t generated = 0;  // tokens, thinking included
  double ms = 0;               // since the first of them
  std::int64_t timed = 0;      // how many of `generated` came in `ms`

  bool operator==(const AnswerProgress&) const = default;
};

struct AnswerEnd {
  Finish finish = Finish::kStop;
  std::string stop_string{};  // kStopString: the string that came
  Usage usage{};
  Timings timings{};
};

// How fast an answer was made; nothing where the runtime does not tell.
struct Speed {
  std::optional<double> tokens_per_second{};
  std::optional<double> prefill_tokens_per_second{};
  std::optional<double> first_token_ms{};  // from the request of the turn

  // Takes the figures of `later`; a figure that is missing there stays as it was.
  void renew(const Speed& later);
};
Speed speed_of(const AnswerEnd& end);

// A whole answer, for clients that do not stream.
struct Answer {
  std::string thinking{};
  std::string text{};
  std::vector<ToolCall> calls{};
  AnswerEnd end{};
};

// Puts an event at the end of an answer.
void append(Answer& answer, const AnswerEvent& event);

}  // namespace rkllm_mcp::chat
