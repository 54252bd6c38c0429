#include "chat/dialects/openai/responses_request.hpp"

#include "chat/dialects/message_parts.hpp"
#include "chat/dialects/tool_fields.hpp"

#include <array>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr std::array kResponsesFields = {
    Field{"model", kHonoured, kTextField, "a preset, a file of runtime.model_dirs, an alias or a profile"},
    Field{"input", kHonoured, kTextField | kArrayField,
          "messages, function_call, function_call_output, reasoning; pictures are refused"},
    Field{"instructions", kHonoured, kTextField, "the system text, before all others"},
    Field{"stream", kHonoured, kBooleanField, ""},
    Field{"max_output_tokens", kHonoured, kNumberField, "absent: the rest of the context"},
    Field{"temperature", kHonoured, kNumberField, "0 to 2"},
    Field{"top_p", kHonoured, kNumberField, "0 to 1"},
    Field{"top_k", kHonoured, kNumberField, "from 1; 0 and -1: every token may come"},
    Field{"frequency_penalty", kHonoured, kNumberField, "-2 to 2"},
    Field{"presence_penalty", kHonoured, kNumberField, "-2 to 2"},
    Field{"tools", kHonoured, kArrayField, "functions; OpenAI's own are ignored and named"},
    Field{"tools[].strict", kIgnored, kBooleanField, "calls come as the model writes them"},
    Field{"tools[].allowed_callers", kIgnored, kArrayField, "the model calls"},
    Field{"tools[].async", kIgnored, kBooleanField, ""},
    Field{"tools[].defer_loading", kIgnored, kBooleanField, "the model sees every tool"},
    Field{"tools[].output_schema", kIgnored, kObjectField, ""},
    Field{"tool_choice", kHonoured, kTextField | kObjectField, "none, auto, required, a function or allowed_tools"},
    Field{"parallel_tool_calls", kHonoured, kBooleanField, "false: the answer ends with its first call"},
    Field{"text", kHonoured, kObjectField, "format: text, json_object, json_schema"},
    Field{"text.format.name", kHonoured, kTextField, "a label"},
    Field{"text.format.strict", kHonoured, kBooleanField, "always"},
    Field{"text.format.description", kIgnored, kTextField, "say it in a message"},
    Field{"text.verbosity", kIgnored, kTextField, ""},
    Field{"reasoning", kHonoured, kObjectField,
          "effort: none and minimal are no thinking, where the model can be told"},
    Field{"reasoning.summary", kIgnored, kTextField, "thinking comes as it is"},
    Field{"reasoning.generate_summary", kIgnored, kTextField, "thinking comes as it is"},
    Field{"reasoning.context", kIgnored, kTextField, "the model's template decides which thinking stays"},
    Field{"reasoning.mode", kIgnored, kTextField, ""},
    Field{"truncation", kHonoured, kTextField, "auto: the oldest turns are dropped when the context is full"},
    Field{"store", kHonoured, kBooleanField, "true: the response is kept for chat.responses_days"},
    Field{"previous_response_id", kHonoured, kTextField,
          "the conversation that ends there; of one that is not kept: 404"},
    Field{"conversation", kHonoured, kTextField | kObjectField,
          "with a profile: the conversation, by its id; a model keeps none: 400"},
    Field{"metadata", kHonoured, kObjectField, "repeated in the response"},
    Field{"include", kIgnored, kArrayField, "all there is is included"},
    Field{"user", kIgnored, kTextField, "never selects a conversation"},
    Field{"safety_identifier", kIgnored, kTextField, ""},
    Field{"service_tier", kIgnored, kTextField, ""},
    Field{"prompt_cache_key", kIgnored, kTextField, "a prompt's known beginning is always reused"},
    Field{"prompt_cache_options", kIgnored, kObjectField, "a prompt's known beginning is always reused"},
    Field{"prompt_cache_retention", kIgnored, kTextField, "a prompt's known beginning is always reused"},
    Field{"max_tool_calls", kIgnored, kNumberField, "the client makes the calls"},
    Field{"top_logprobs", kIgnored, kNumberField, "too slow on boards"},
    Field{"stream_options", kIgnored, kObjectField, ""},
    Field{"context_management", kIgnored, kArrayField | kObjectField, "see truncation"},
    Field{"access_programs", kIgnored, kObjectField, ""},
    Field{"image", kIgnored, kObjectField, "pictures are refused"},
    Field{"background", kRefused, kBooleanField, "an answer is made while its client waits"},
    Field{"moderation", kRefused, kObjectField, "no moderation is made here"},
    Field{"prompt", kRefused, kObjectField, "prompts are not stored here"},
};

void read_response_content(const JsonReader& content, ChatMessage& message) {
  if (content.json().is_string()) {
    message.parts.emplace_back(TextPart{content.text()});
    return;
  }
  for (std::size_t i = 0; i < parts_of(content).size(); ++i) {
    const JsonReader part = content.element(i);
    part.object();
    const auto type = required_member(part, "type");
    const std::string& kind = type->text();
    if (kind == "input_text" || kind == "output_text" || kind == "text") {
      message.parts.emplace_back(TextPart{required_member(part, "text")->text()});
    } else if (kind == "refusal") {
      message.parts.emplace_back(TextPart{required_member(part, "refusal")->text()});
    } else if (kind == "input_image") {
      message.parts.emplace_back(image_of_address(*required_member(part, "image_url")));
    } else {
      type->refuse("expected input_text, output_text or input_image; other parts are not supported");
    }
  }
}

// The assistant's message that this item belongs to: a turn comes in several items, thinking, text and calls.
ChatMessage& assistant_message(std::vector<ChatMessage>& messages) {
  if (messages.empty() || messages.back().role != Role::kAssistant) {
    messages.emplace_back();
    messages.back().role = Role::kAssistant;
  }
  return messages.back();
}

void read_message_item(const JsonReader& item, std::vector<ChatMessage>& messages) {
  const auto role = required_member(item, "role");
  const std::string& name = role->text();
  const auto content = required_member(item, "content");
  if (name == "assistant") {
    read_response_content(*content, assistant_message(messages));
    return;
  }
  if (name != "user" && name != "system" && name != "developer") role->expected("user, assistant, system or developer");
  ChatMessage message;
  message.role = name == "user" ? Role::kUser : Role::kSystem;
  read_response_content(*content, message);
  messages.push_back(std::move(message));
}

void read_reasoning_item(const JsonReader& item, std::vector<ChatMessage>& messages) {
  std::string thinking;
  for (const auto* key : {"content", "summary"}) {
    const auto parts = item.find(key);
    if (!parts || !thinking.empty()) continue;
    for (std::size_t i = 0; i < parts->array().size(); ++i) {
      const JsonReader part = parts->element(i);
      part.object();
      thinking += required_member(part, "text")->text();
    }
  }
  if (!thinking.empty()) assistant_message(messages).thinking += thinking;
}

void read_item(const JsonReader& item, std::vector<ChatMessage>& messages) {
  item.object();
  const auto type = item.find("type");
  const std::string kind = type ? type->text() : "message";
  if (kind == "message") {
    read_message_item(item, messages);
  } else if (kind == "function_call") {
    ToolCall call{.id = required_member(item, "call_id")->text(),
                  .name = required_member(item, "name")->text(),
                  .arguments = "{}"};
    if (const auto arguments = item.find("arguments")) call.arguments = read_arguments(*arguments);
    assistant_message(messages).calls.push_back(std::move(call));
  } else if (kind == "function_call_output") {
    ChatMessage result;
    result.role = Role::kTool;
    result.call_id = required_member(item, "call_id")->text();
    read_response_content(*required_member(item, "output"), result);
    messages.push_back(std::move(result));
  } else if (kind == "reasoning") {
    read_reasoning_item(item, messages);
  } else {
    type->refuse("items of this type are not supported here");
  }
}

void read_response_tools(const JsonReader& tools, ResponsesRequest& result) {
  for (std::size_t i = 0; i < tools.array().size(); ++i) {
    const JsonReader tool = tools.element(i);
    tool.object();
    const auto type = required_member(tool, "type");
    if (type->text() == "function") {
      result.turn.tools.push_back(read_tool(tool, "parameters"));
    } else {  // agents always send these; a model to which they are not offered goes without
      result.ignored.push_back("tools[" + std::to_string(i) + "]");
    }
  }
  check_tool_names(tools, result.turn.tools);
}

OutputFormat read_text_format(const JsonReader& format) {
  const auto type = required_member(format, "type");
  if (type->text() == "text") return {};
  if (type->text() == "json_object") return {OutputKind::kJsonObject, nullptr};
  if (type->text() != "json_schema") type->expected("text, json_object or json_schema");
  return {OutputKind::kJsonSchema, required_member(format, "schema")->object()};
}

void read_responses_options(const JsonReader& request, ResponsesRequest& result) {
  Turn& turn = result.turn;
  if (const auto stream = request.find("stream")) result.stream = stream->boolean();
  if (const auto store = request.find("store")) result.store = store->boolean();
  if (const auto id = request.find("previous_response_id")) result.previous_response = id->text();
  if (const auto conversation = request.find("conversation")) {
    turn.conversation =
        (conversation->json().is_string() ? *conversation : *required_member(*conversation, "id")).text();
    if (turn.conversation.empty()) conversation->refuse("must not be empty");
    if (result.previous_response) conversation->refuse("cannot be sent together with previous_response_id");
    turn.needs_conversation = true;
  }
  if (const auto limit = request.find("max_output_tokens")) turn.max_tokens = read_token_limit(*limit);
  read_sampling(request, turn.sampling);
  if (const auto text = request.find("text")) {
    if (const auto format = text->find("format")) {
      turn.format = read_text_format(*format);
      turn.format_field = "text.format.schema";
    }
  }
  if (const auto reasoning = request.find("reasoning")) {
    if (const auto effort = reasoning->find("effort")) {
      turn.thinking = read_effort(*effort);
      turn.thinking_field = "reasoning.effort";
    }
  }
  if (const auto truncation = request.find("truncation")) {
    if (truncation->text() != "auto" && truncation->text() != "disabled") truncation->expected("auto or disabled");
    turn.drop_oldest_turns = truncation->text() == "auto";
  }
}

Json settings_of(const JsonReader& request, const Turn& turn) {
  static const Json kDefaults = Json::parse(R"({
    "background": false, "instructions": null, "max_output_tokens": null, "metadata": {}, "parallel_tool_calls": true,
    "previous_response_id": null, "reasoning": {"effort": null, "summary": null}, "temperature": null,
    "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [], "top_p": null, "truncation": "disabled"})");
  Json settings = kDefaults;
  for (auto& [name, value] : settings.items()) {
    if (const auto given = request.find(name)) value = given->json();
  }
  for (const char* const name : {"top_k", "frequency_penalty", "presence_penalty", "max_tool_calls", "top_logprobs",
                                 "service_tier", "user", "safety_identifier", "prompt_cache_key"}) {
    if (const auto given = request.find(name)) settings[name] = given->json();
  }
  settings["conversation"] = nullptr;
  if (!turn.conversation.empty()) settings["conversation"] = {{"id", turn.conversation}};
  const auto store = request.find("store");
  settings["store"] = store && store->boolean();
  return settings;
}

}  // namespace

std::span<const Field> responses_fields() { return kResponsesFields; }

ResponsesRequest read_responses(const Json& json) {
  ResponsesRequest result;
  read_request(json, [&result](const JsonReader& request) {
    result.ignored = check_fields(kResponsesFields, request);
    Turn& turn = result.turn;
    turn.prompt_field = "input";
    if (const auto model = request.find("model")) turn.model = model->text();
    if (const auto instructions = request.find("instructions")) result.instructions = instructions->text();
    const auto input = required_member(request, "input");
    if (input->json().is_string()) {
      turn.messages.push_back(text_message(Role::kUser, input->text()));
    } else {
      if (input->array().empty()) input->refuse("expected at least one item");
      for (std::size_t i = 0; i < input->array().size(); ++i) read_item(input->element(i), turn.messages);
    }
    name_tool_results(turn.messages);
    if (const auto tools = request.find("tools")) read_response_tools(*tools, result);
    if (const auto choice = request.find("tool_choice")) read_tool_choice(*choice, FunctionForm::kFlat, turn);
    if (const auto parallel = request.find("parallel_tool_calls")) turn.parallel_calls = parallel->boolean();
    read_responses_options(request, result);
    result.settings = settings_of(request, turn);
  });
  return result;
}

Json items_of(const Json& input) {
  if (!input.is_string()) return input;
  return Json::array({Json{{"type", "message"}, {"role", "user"}, {"content", input}}});
}

}  // namespace rkllm_mcp::chat
