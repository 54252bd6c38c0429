#include "chat/dialects/anthropic/anthropic_request.hpp"

#include "chat/dialects/message_parts.hpp"
#include "chat/dialects/tool_fields.hpp"
#include "jsonrpc/unread.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr std::size_t kMostSequences = 64;

constexpr std::array kAnthropicFields = {
    Field{"model", kHonoured, kTextField, "a preset, a file of runtime.model_dirs, an alias or a profile"},
    Field{"messages", kHonoured, kArrayField,
          "text, tool_use, tool_result, thinking, documents of text; pictures are refused"},
    Field{"messages[].content[].cache_control", kIgnored, kObjectField, "a prompt's known beginning is always reused"},
    Field{"messages[].content[].content[].cache_control", kIgnored, kObjectField, "of a tool's result: the same"},
    Field{"messages[].content[].citations", kIgnored, kObjectField | kArrayField, "no citations are made here"},
    Field{"messages[].content[].transformations", kIgnored, kArrayField | kObjectField, "pictures are refused"},
    Field{"messages[].content[].caller", kIgnored, kObjectField, ""},
    Field{"messages[].content[].toolset_name", kIgnored, kTextField, ""},
    Field{"max_tokens", kHonoured, kNumberField, "required"},
    Field{"system", kHonoured, kTextField | kArrayField, "blocks that change with every request are left out"},
    Field{"system[].cache_control", kIgnored, kObjectField, "a prompt's known beginning is always reused"},
    Field{"system[].citations", kIgnored, kArrayField, "no citations are made here"},
    Field{"stop_sequences", kHonoured, kArrayField, ""},
    Field{"stream", kHonoured, kBooleanField, ""},
    Field{"temperature", kHonoured, kNumberField, "0 to 2"},
    Field{"top_k", kHonoured, kNumberField, "from 1; 0 and -1: every token may come"},
    Field{"top_p", kHonoured, kNumberField, "0 to 1"},
    Field{"tools", kHonoured, kArrayField, "of the client; Anthropic's own are refused"},
    Field{"tools[].cache_control", kIgnored, kObjectField, "a prompt's known beginning is always reused"},
    Field{"tools[].strict", kIgnored, kBooleanField, "calls come as the model writes them"},
    Field{"tools[].allowed_callers", kIgnored, kArrayField, "the model calls"},
    Field{"tools[].defer_loading", kIgnored, kBooleanField, "the model sees every tool"},
    Field{"tools[].eager_input_streaming", kIgnored, kBooleanField, "a call comes whole"},
    Field{"tools[].input_examples", kIgnored, kArrayField, "templates have no place for them"},
    Field{"tool_choice", kHonoured, kObjectField, "auto, any, tool, none; disable_parallel_tool_use"},
    Field{"thinking", kHonoured, kObjectField, "enabled, disabled or adaptive"},
    Field{"thinking.budget_tokens", kIgnored, kNumberField, "the model ends its thinking"},
    Field{"thinking.display", kIgnored, kTextField, "thinking comes as it is"},
    Field{"output_config", kHonoured, kObjectField, "format"},
    Field{"output_config.effort", kIgnored, kTextField, "see thinking"},
    Field{"output_config.task_budget", kIgnored, kObjectField, "see max_tokens"},
    Field{"output_format", kHonoured, kObjectField, "the same in its older place"},
    Field{"metadata", kIgnored, kObjectField, "never selects a conversation"},
    Field{"service_tier", kIgnored, kTextField, ""},
    Field{"cache_control", kIgnored, kObjectField, "a prompt's known beginning is always reused"},
    Field{"context_management", kIgnored, kObjectField, "nothing is dropped"},
    Field{"betas", kIgnored, kArrayField, ""},
    Field{"inference_geo", kIgnored, kTextField, ""},
    Field{"speed", kIgnored, kTextField, ""},
    Field{"diagnostics", kIgnored, kObjectField, "nothing is stored"},
    Field{"billing_policy", kIgnored, kObjectField, ""},
    Field{"fallbacks", kIgnored, kTextField | kArrayField, "the model that is asked answers, or nobody"},
    Field{"fallback_credit_token", kIgnored, kTextField | kObjectField, ""},
    Field{"container", kRefused, kTextField | kObjectField, "there are no containers here"},
    Field{"mcp_servers", kRefused, kArrayField, "name them in the settings (upstreams)"},
    Field{"compaction", kRefused, kObjectField, "conversations are not summarised here"},
    Field{"thread", kRefused, kObjectField, "nothing is stored; send the whole conversation"},
};

const std::string& block_type(const JsonReader& block) {
  block.object();
  const auto type = required_member(block, "type");
  type->text();  // checks it
  return block.json()["type"].get_ref<const std::string&>();
}

const std::string& text_member(const JsonReader& block, const char* name) {
  const auto member = required_member(block, name);
  member->text();
  return block.json()[name].get_ref<const std::string&>();
}

ImagePart read_anthropic_image(const JsonReader& block) {
  const auto source = required_member(block, "source");
  if (block_type(*source) != "base64") source->refuse("expected base64; this server fetches no pictures");
  return {text_member(*source, "media_type"), text_member(*source, "data")};
}

// Text of a document block whose source is text.
std::string read_document(const JsonReader& block) {
  const auto source = required_member(block, "source");
  if (block_type(*source) != "text") source->refuse("only documents of text can be read here");
  std::string text;
  for (const auto* about : {"title", "context"}) {
    if (const auto words = block.find(about)) text += words->text() + "\n";
  }
  return text + text_member(*source, "data");
}

// A string, or blocks of text and pictures.
void read_plain_content(const JsonReader& content, ChatMessage& message) {
  if (content.json().is_string()) {
    message.parts.emplace_back(TextPart{content.text()});
    return;
  }
  for (std::size_t i = 0; i < parts_of(content).size(); ++i) {
    const JsonReader block = content.element(i);
    const std::string& type = block_type(block);
    if (type == "text")
      message.parts.emplace_back(TextPart{text_member(block, "text")});
    else if (type == "image")
      message.parts.emplace_back(read_anthropic_image(block));
    else if (type == "document")
      message.parts.emplace_back(TextPart{read_document(block)});
    else
      block.refuse("blocks of type " + Json(shortened(type)).dump() + " are not supported here");
  }
}

void say_that_it_is_an_error(ChatMessage& result) {
  if (result.parts.empty()) result.parts.emplace_back(TextPart{});
  if (auto* const first = std::get_if<TextPart>(&result.parts.front())) first->text.insert(0, "error: ");
}

// One message of the request. Results of tools stand in a user's message there, and are messages of their own here.
void read_anthropic_message(const JsonReader& object, std::vector<ChatMessage>& messages) {
  object.object();
  const std::string& role = text_member(object, "role");
  if (role != "user" && role != "assistant" && role != "system") object.find("role")->expected("user or assistant");
  ChatMessage message;
  message.role = role == "user" ? Role::kUser : role == "assistant" ? Role::kAssistant : Role::kSystem;
  const auto content = required_member(object, "content");
  if (content->json().is_string()) {
    read_plain_content(*content, message);
    messages.push_back(std::move(message));
    return;
  }
  for (std::size_t i = 0; i < parts_of(*content).size(); ++i) {
    const JsonReader block = content->element(i);
    const std::string& type = block_type(block);
    if (type == "tool_result") {
      ChatMessage result;
      result.role = Role::kTool;
      result.call_id = text_member(block, "tool_use_id");
      if (const auto inside = block.find("content")) read_plain_content(*inside, result);
      const auto is_error = block.find("is_error");
      if (is_error && is_error->boolean()) say_that_it_is_an_error(result);
      messages.push_back(std::move(result));
    } else if (type == "tool_use") {
      const auto input = required_member(block, "input");
      message.calls.push_back({text_member(block, "id"), text_member(block, "name"), to_text(input->object())});
    } else if (type == "thinking") {
      message.thinking += text_member(block, "thinking");
    } else if (type == "text") {
      message.parts.emplace_back(TextPart{text_member(block, "text")});
    } else if (type == "image") {
      message.parts.emplace_back(read_anthropic_image(block));
    } else if (type == "document") {
      message.parts.emplace_back(TextPart{read_document(block)});
    } else if (type != "redacted_thinking") {
      block.refuse("blocks of type " + Json(shortened(type)).dump() + " are not supported here");
    }
  }
  if (!message.parts.empty() || !message.calls.empty() || content->json().empty())
    messages.push_back(std::move(message));
}

// Some agents send a block that is another one in each request: it would make every prompt a new one.
bool changes_with_every_request(std::string_view text) { return text.starts_with("x-anthropic-billing-header:"); }

void read_system(const JsonReader& system, std::vector<ChatMessage>& messages) {
  if (system.json().is_string()) {
    if (!system.text().empty()) messages.push_back(text_message(Role::kSystem, system.text()));
    return;
  }
  for (std::size_t i = 0; i < system.array().size(); ++i) {
    const JsonReader block = system.element(i);
    if (block_type(block) != "text") block.refuse("expected text");
    const std::string& text = text_member(block, "text");
    if (!changes_with_every_request(text)) messages.push_back(text_message(Role::kSystem, text));
  }
}

std::vector<FunctionTool> read_anthropic_tools(const JsonReader& tools) {
  std::vector<FunctionTool> list;
  for (std::size_t i = 0; i < tools.array().size(); ++i) {
    const JsonReader tool = tools.element(i);
    tool.object();
    const auto type = tool.find("type");
    if (type && type->text() != "custom") type->refuse("only tools of the client (custom) can be offered here");
    list.push_back(read_tool(tool, "input_schema"));
  }
  check_tool_names(tools, list);
  return list;
}

void read_anthropic_choice(const JsonReader& choice, Turn& turn) {
  const std::string& type = block_type(choice);
  if (type == "none")
    turn.tool_choice.use = ToolUse::kNone;
  else if (type == "any")
    turn.tool_choice.use = ToolUse::kRequired;
  else if (type == "tool")
    turn.tool_choice = {ToolUse::kNamed, text_member(choice, "name")};
  else if (type != "auto")
    choice.find("type")->expected("auto, any, tool or none");
  if (const auto single = choice.find("disable_parallel_tool_use")) turn.parallel_calls = !single->boolean();
}

void read_output_format(const JsonReader& format, Turn& turn) {
  if (block_type(format) != "json_schema") format.find("type")->expected("json_schema");
  turn.format = {OutputKind::kJsonSchema, required_member(format, "schema")->object()};
  turn.format_field = "output_config.format.schema";
}

void read_anthropic_options(const JsonReader& request, AnthropicRequest& result) {
  Turn& turn = result.turn;
  if (const auto limit = request.find("max_tokens")) turn.max_tokens = read_token_limit(*limit);
  if (const auto stops = request.find("stop_sequences")) turn.stop = read_stops(*stops, kMostSequences);
  if (const auto stream = request.find("stream")) result.stream = stream->boolean();
  read_sampling(request, turn.sampling);
  if (const auto thinking = request.find("thinking")) {
    const std::string& type = block_type(*thinking);
    turn.thinking_field = "thinking";
    if (type == "enabled")
      turn.thinking = Thinking::kOn;
    else if (type == "disabled")
      turn.thinking = Thinking::kOff;
    else if (type != "adaptive")
      thinking->find("type")->expected("enabled, disabled or adaptive");
  }
  if (const auto format = request.find("output_format")) read_output_format(*format, turn);
  if (const auto config = request.find("output_config")) {
    if (const auto format = config->find("format")) read_output_format(*format, turn);
  }
}

AnthropicRequest read_anthropic_request(const Json& json, bool needs_limit) {
  AnthropicRequest result;
  read_request(json, [&result, needs_limit](const JsonReader& request) {
    result.ignored = check_fields(kAnthropicFields, request);
    Turn& turn = result.turn;
    if (const auto model = request.find("model")) turn.model = model->text();
    if (needs_limit) required_member(request, "max_tokens");
    if (const auto system = request.find("system")) read_system(*system, turn.messages);
    const auto messages = required_member(request, "messages");
    if (messages->array().empty()) messages->refuse("expected at least one message");
    for (std::size_t i = 0; i < messages->array().size(); ++i) {
      read_anthropic_message(messages->element(i), turn.messages);
    }
    name_tool_results(turn.messages);
    if (const auto tools = request.find("tools")) turn.tools = read_anthropic_tools(*tools);
    if (const auto choice = request.find("tool_choice")) read_anthropic_choice(*choice, turn);
    read_anthropic_options(request, result);
  });
  return result;
}

}  // namespace

std::span<const Field> anthropic_fields() { return kAnthropicFields; }

AnthropicRequest read_anthropic(const Json& request) { return read_anthropic_request(request, true); }
AnthropicRequest read_anthropic_count(const Json& request) { return read_anthropic_request(request, false); }

}  // namespace rkllm_mcp::chat
