#include "chat/mcp/tool_words.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace rkllm_mcp::chat {
namespace {

struct Words {
  std::string_view name;
  std::string_view title;
  std::string_view description;
  std::string_view properties;  // JSON; "!" behind a name: it is required
  ToolAnnotations hints{};
  Permission permission = Permission::kCall;
};

constexpr ToolAnnotations kReads{.read_only = true, .destructive = false, .idempotent = true, .open_world = false};
constexpr ToolAnnotations kActs{.read_only = false, .destructive = false, .idempotent = false, .open_world = false};
constexpr ToolAnnotations kSets{.read_only = false, .destructive = false, .idempotent = true, .open_world = false};

constexpr std::array kTools{
    Words{"list_models", "List models", "Models that can be used here by name, and which are loaded.", "{}", kReads},
    Words{"load_model", "Load a model",
          "Loads a model ahead of its first use. Tells progress. chat and embed load by themselves.",
          R"({"model!":{"type":"string","description":"A name from list_models."}})", kSets},
    Words{"chat", "Chat",
          "Lets a model answer a message. With a progressToken the text comes as progress messages, too.",
          R"({"message!":{"type":"string","description":"What the user says.","minLength":1},
              "system":{"type":"string","description":"Instructions that go before everything; not remembered."},
              "model":{"type":"string","description":"A name from list_models. Not needed if only one exists or is loaded."},
              "conversation":{"type":"string","description":"Any name. What was said under it before goes before the message, and this message and its answer are kept under it (in memory-server, by access token). Without it nothing is remembered.","minLength":1,"maxLength":256},
              "temperature":{"type":"number","minimum":0,"maximum":2},
              "max_tokens":{"type":"integer","description":"Of the answer. Absent: the rest of the context.","minimum":1,"maximum":1000000}})",
          kActs},
    Words{"embed", "Embed a text", "The embedding of a text: numbers whose vector has length 1.",
          R"({"input!":{"type":"string","minLength":1},
              "model":{"type":"string","description":"As in chat."}})",
          kReads},
    Words{
        "stop", "Stop answers", "Ends answers that chat is making for this client; they end with the text so far.",
        R"({"conversation":{"type":"string","description":"Only that of this conversation, whoever of this access token has asked."}})",
        kSets},
    Words{"status", "Status",
          "What is loaded, what waits, how fast the latest answers were (null: not known), and what chat is doing for "
          "this client.",
          "{}", kReads},
    Words{"unload_model", "Unload a model", "Unloads a model as soon as nobody uses it. For admins.",
          R"({"model!":{"type":"string","description":"As in load_model."}})", kSets, Permission::kAdmin},
};

Json schema_of(std::string_view properties, bool remembers) {
  Json schema{{"type", "object"}, {"properties", Json::object()}};
  const Json given = Json::parse(properties);
  for (const auto& [marked, property] : given.items()) {
    if (marked == "conversation" && !remembers) continue;
    const bool is_required = marked.ends_with('!');
    const std::string name = is_required ? marked.substr(0, marked.size() - 1) : marked;
    schema["properties"][name] = property;
    if (is_required) schema["required"].push_back(name);
  }
  return schema;
}

}  // namespace

mcp::Tool described_tool(std::string_view name, bool remembers) {
  const auto* const words = std::ranges::find(kTools, name, &Words::name);
  if (words == kTools.end()) throw std::logic_error("there are no words for this tool");
  mcp::Tool tool;
  tool.name = words->name;
  tool.title = words->title;
  tool.description = words->description;
  tool.input_schema = schema_of(words->properties, remembers);
  tool.annotations = words->hints;
  tool.permission = words->permission;
  return tool;
}

}  // namespace rkllm_mcp::chat
