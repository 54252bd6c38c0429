// The words that a profile has in one language, and what goes into their holes: "{question}". Pure, any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp::chat {

// What a text is for. A profile has words of its own for each of these, in each of its languages; but not for kTask,
// whose prompt is the client's own.
enum class Purpose { kLanguage, kGuardrail, kAnswer, kRefusal, kSummary, kShorterSummary, kTask };

// "language", "guardrail", "answer", "refusal", "summary", "shorter_summary", "task"
std::string_view word_for(Purpose purpose);

struct Wording {
  std::map<Purpose, std::string> prompts{};
  std::string user{};       // who asks, in a conversation that is told: "Patient"
  std::string assistant{};  // who answers

  bool operator==(const Wording&) const = default;
};

// By the name of the hole.
using Filling = std::map<std::string, std::string, std::less<>>;

// The text with its holes filled. A paragraph that has holes of which all are empty is left out, so that nothing
// announces what is not there. What a hole is filled with is taken as it is, braces included; a hole of which nothing
// is known stays.
std::string filled(std::string_view text, const Filling& filling);

// What a guardrail's answer says, by its first word in Vietnamese or English; nothing if that is neither yes nor no.
std::optional<bool> yes_or_no(std::string_view answer);

}  // namespace rkllm_mcp::chat
