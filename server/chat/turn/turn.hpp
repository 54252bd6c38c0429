// What a client asks of a model, independent of the dialect that it was asked in: messages, tools, options. Plain
// values; whoever reads a dialect makes one, and the host makes the answer from it.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rkllm_mcp::chat {

enum class Role { kSystem, kUser, kAssistant, kTool };

struct TextPart {
  std::string text;

  bool operator==(const TextPart&) const = default;
};

// A picture that came with the request. No family can use one without an encoder: whoever makes the turn refuses it.
struct ImagePart {
  std::string media_type;  // "image/png"; empty if the client has not said
  std::string base64;      // as it came, not decoded

  bool operator==(const ImagePart&) const = default;
};

using Part = std::variant<TextPart, ImagePart>;

// One call that a model wants made.
struct ToolCall {
  std::string id;         // ours or the client's; a result names it
  std::string name;       // of the tool
  std::string arguments;  // JSON text of an object, in one line; of a call that broke off, what there is of it

  bool operator==(const ToolCall&) const = default;
};

struct ChatMessage {
  Role role = Role::kUser;
  std::vector<Part> parts{};
  std::string thinking{};         // kAssistant: what it thought, if the client has sent it back
  std::vector<ToolCall> calls{};  // kAssistant
  std::string call_id{};          // kTool: which call this is the result of; empty where the dialect has no ids
  std::string tool_name{};        // kTool: whose result; empty if unknown

  bool operator==(const ChatMessage&) const = default;
};

// A message of one part of text.
ChatMessage text_message(Role role, std::string text);
// The text of all its parts, each in lines of its own; pictures are left out.
std::string text_of(const ChatMessage& message);
bool has_image(const ChatMessage& message);

struct FunctionTool {
  std::string name;
  std::string description{};  // empty: none
  Json parameters = nullptr;  // JSON Schema of the arguments; null: none

  bool operator==(const FunctionTool&) const = default;
};

enum class ToolUse { kAuto, kNone, kRequired, kNamed };

struct ToolChoice {
  ToolUse use = ToolUse::kAuto;
  std::string name{};  // kNamed: the tool that must be called

  // The answer has to be a call.
  bool must_call() const { return use == ToolUse::kRequired || use == ToolUse::kNamed; }
  bool operator==(const ToolChoice&) const = default;
};

// Whether the model should think before it answers. Families that cannot be told ignore it; with kSkipped those that
// think in any case have an empty thought put before their answer: for answers of a few tokens.
enum class Thinking { kAsTheModelDoes, kOff, kOn, kSkipped };

// What the request says about sampling; the rest comes from the model's preset.
struct SamplingWish {
  std::optional<std::int32_t> top_k{};
  std::optional<double> top_p{};
  std::optional<double> temperature{};
  std::optional<double> repeat_penalty{};
  std::optional<double> frequency_penalty{};
  std::optional<double> presence_penalty{};
  std::optional<std::int32_t> mirostat{};
  std::optional<double> mirostat_tau{};
  std::optional<double> mirostat_eta{};

  bool operator==(const SamplingWish&) const = default;
};

// All nine values of a run: the runtime replaces all of them, so none may be left open. The defaults are the runtime's.
struct Sampling {
  std::int32_t top_k = 40;
  double top_p = 0.9;
  double temperature = 0.8;
  double repeat_penalty = 1.1;
  double frequency_penalty = 0;
  double presence_penalty = 0;
  std::int32_t mirostat = 0;
  double mirostat_tau = 5.0;
  double mirostat_eta = 0.1;

  bool operator==(const Sampling&) const = default;
};

// The preset's values with the wishes of the request in place.
Sampling with_wishes(Sampling preset, const SamplingWish& wish);

enum class OutputKind { kText, kJsonObject, kJsonSchema };

struct OutputFormat {
  OutputKind kind = OutputKind::kText;
  Json schema = nullptr;  // kJsonSchema

  bool operator==(const OutputFormat&) const = default;
};

// How long a model stays loaded after this turn.
struct KeepAlive {
  bool forever = false;
  double seconds = 0;

  // Whether the model is to be unloaded as soon as nobody uses it. Less than a second counts as that, since no client
  // could send its next request within it.
  bool unloads() const { return !forever && seconds < 1; }
  bool operator==(const KeepAlive&) const = default;
};

struct Turn {
  std::string model;  // as the client names it
  std::vector<ChatMessage> messages{};
  // Instead of messages: goes to the model as it is. Its answer is read as the family "plain" has it, i.e. as text
  // alone.
  std::optional<std::string> raw_prompt{};
  std::vector<FunctionTool> tools{};
  ToolChoice tool_choice{};
  bool parallel_calls = true;
  Thinking thinking = Thinking::kAsTheModelDoes;
  std::string thinking_field{};  // what the request calls that, to name it if it is ignored; empty: it is silent
  SamplingWish sampling{};
  std::optional<std::int64_t> max_tokens{};  // at least 1; nothing: the rest of the context
  std::vector<std::string> stop{};
  OutputFormat format{};
  std::size_t answers = 1;                // OpenAI's n
  bool drop_oldest_turns = false;         // truncate: "oldest_turns"
  std::optional<std::int64_t> context{};  // Ollama's num_ctx: named as ignored unless it is what the model has
  std::optional<KeepAlive> keep_alive{};
  std::string conversation{};  // chosen by the client; empty: none
  // The names that the request has for these fields, for complaints.
  std::string prompt_field{"messages"};
  std::string images_field{};  // empty: images are in prompt_field
  std::string format_field{"response_format.json_schema.schema"};
  std::string conversation_field{};  // what the request calls that, to name it where nothing keeps conversations
  bool needs_conversation = false;   // the client sends only what is new: whoever keeps no conversations has to refuse
  bool goes_on = true;               // false: no turn goes on from its answer, so nothing is computed ahead for one
  bool is_task = false;      // asked by the client for its own use, such as a title: no part of the conversation
  bool only_counts = false;  // nothing is answered but how many tokens the prompt has
};

// Whether this is Open WebUI's name for something that it asks for its own use: "title_generation", "tags_generation".
bool is_name_of_task(std::string_view name);
// Whether the turn is made of one of the prompts by which Open WebUI asks for its own use. Its prompt for answers from
// documents begins with the same heading, but tells no chat.
bool is_prompt_of_task(const Turn& turn);

// The texts of all messages of that role, with an empty line between two.
std::string text_of_role(const Turn& turn, Role role);

}  // namespace rkllm_mcp::chat
