#include "chat/dialects/openai/openai_chat_request.hpp"

#include "chat/dialects/message_parts.hpp"
#include "chat/dialects/tool_fields.hpp"

#include <array>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr std::size_t kMostStops = 16;
constexpr std::size_t kMostAnswers = 8;

constexpr std::array kOpenAiChatFields = {
    Field{"model", kHonoured, kTextField, "a preset, a file of runtime.model_dirs, an alias or a profile"},
    Field{"messages", kHonoured, kArrayField,
          "roles system, developer, user, assistant, tool; text and text parts; pictures are refused"},
    Field{"messages[].name", kHonoured, kTextField, "of a tool's result; of other messages it is ignored and named"},
    Field{"messages[].audio", kIgnored, kObjectField, "there is no sound here"},
    Field{"messages[].function_call", kRefused, kObjectField, "use tool_calls"},
    Field{"messages[].content[].prompt_cache_breakpoint", kIgnored, kObjectField,
          "a prompt's known beginning is always reused"},
    Field{"stream", kHonoured, kBooleanField, ""},
    Field{"stream_options", kHonoured, kObjectField, "include_usage"},
    Field{"stream_options.include_obfuscation", kIgnored, kBooleanField, "chunks are as long as they are"},
    Field{"timings_per_token", kHonoured, kBooleanField,
          "llama.cpp's: each chunk has predicted_n, predicted_ms, predicted_per_second so far"},
    Field{"max_completion_tokens", kHonoured, kNumberField, "absent: the rest of the context"},
    Field{"max_tokens", kHonoured, kNumberField, "if max_completion_tokens is absent"},
    Field{"stop", kHonoured, kTextField | kArrayField, "a string, or at most 16"},
    Field{"temperature", kHonoured, kNumberField, "0 to 2"},
    Field{"top_p", kHonoured, kNumberField, "0 to 1"},
    Field{"top_k", kHonoured, kNumberField, "from 1; 0 and -1: every token may come"},
    Field{"frequency_penalty", kHonoured, kNumberField, "-2 to 2"},
    Field{"presence_penalty", kHonoured, kNumberField, "-2 to 2"},
    Field{"repeat_penalty", kHonoured, kNumberField, "0 to 10"},
    Field{"repetition_penalty", kHonoured, kNumberField, "the same under vLLM's name"},
    Field{"mirostat", kHonoured, kNumberField, "0 to 2"},
    Field{"mirostat_tau", kHonoured, kNumberField, ""},
    Field{"mirostat_eta", kHonoured, kNumberField, ""},
    Field{"n", kHonoured, kNumberField, "1 to 8, one after the other"},
    Field{"response_format", kHonoured, kObjectField, "text, json_object, json_schema"},
    Field{"response_format.json_schema.name", kHonoured, kTextField, "a label"},
    Field{"response_format.json_schema.strict", kHonoured, kBooleanField, "always"},
    Field{"response_format.json_schema.description", kIgnored, kTextField, "say it in a message"},
    Field{"tools", kHonoured, kArrayField, "functions"},
    Field{"tools[].function.strict", kIgnored, kBooleanField, "calls come as the model writes them"},
    Field{"tool_choice", kHonoured, kTextField | kObjectField,
          "none, auto, required, a named function or allowed_tools"},
    Field{"parallel_tool_calls", kHonoured, kBooleanField, "false: the answer ends with its first call"},
    Field{"reasoning_effort", kHonoured, kTextField, "none and minimal: no thinking, where the model can be told"},
    Field{"chat_template_kwargs", kHonoured, kObjectField, "enable_thinking"},
    Field{"truncate", kHonoured, kTextField, "ours: oldest_turns drops them when the context is full"},
    Field{"chat_id", kHonoured, kTextField, "ours: the conversation of a profile; with a model ignored and named"},
    Field{"modalities", kHonoured, kArrayField, "text only"},
    Field{"seed", kIgnored, kNumberField, "the runtime has none"},
    Field{"logprobs", kIgnored, kBooleanField | kNumberField, "too slow on boards"},
    Field{"top_logprobs", kIgnored, kNumberField, "too slow on boards"},
    Field{"logit_bias", kIgnored, kObjectField, "the runtime has none"},
    Field{"min_p", kIgnored, kNumberField, "the runtime has none"},
    Field{"return_progress", kIgnored, kBooleanField, "the runtime tells nothing during the prefill"},
    Field{"cache_prompt", kIgnored, kBooleanField, "a prompt's known beginning is always reused"},
    Field{"user", kIgnored, kTextField, "never selects a conversation"},
    Field{"metadata", kIgnored, kObjectField, "nothing is stored; Open WebUI's task is heeded"},
    Field{"store", kIgnored, kBooleanField, "nothing is stored"},
    Field{"service_tier", kIgnored, kTextField, ""},
    Field{"prediction", kIgnored, kObjectField, "would only change the speed"},
    Field{"verbosity", kIgnored, kTextField, ""},
    Field{"safety_identifier", kIgnored, kTextField, ""},
    Field{"prompt_cache_key", kIgnored, kTextField, "a prompt's known beginning is always reused"},
    Field{"prompt_cache_options", kIgnored, kObjectField, "a prompt's known beginning is always reused"},
    Field{"prompt_cache_retention", kIgnored, kTextField, "a prompt's known beginning is always reused"},
    Field{"audio", kRefused, kObjectField, "there is no sound here"},
    Field{"moderation", kRefused, kObjectField, "no moderation is made here"},
    Field{"web_search_options", kRefused, kObjectField, "offer a search tool, or use a profile that searches"},
    Field{"functions", kRefused, kArrayField, "use tools"},
    Field{"function_call", kRefused, kTextField | kObjectField, "use tool_choice"},
};

void read_content(const JsonReader& content, ChatMessage& message) {
  if (content.json().is_string()) {
    message.parts.emplace_back(TextPart{content.text()});
    return;
  }
  for (std::size_t i = 0; i < parts_of(content).size(); ++i) {
    const JsonReader part = content.element(i);
    part.object();
    const auto type = required_member(part, "type");
    const std::string& kind = type->text();
    if (kind == "text" || kind == "input_text" || kind == "output_text" || kind == "refusal") {
      const auto text = part.find(kind == "refusal" ? "refusal" : "text");
      if (!text) part.refuse("text is missing");
      message.parts.emplace_back(TextPart{text->text()});
    } else if (kind == "image_url") {
      const auto image = required_member(part, "image_url");
      const auto address = image->json().is_object() ? image->find("url") : image;
      if (!address) image->refuse("url is missing");
      message.parts.emplace_back(image_of_address(*address));
    } else {
      type->refuse("expected text or image_url; other parts are not supported");
    }
  }
}

ChatMessage read_message(const JsonReader& object) {
  object.object();
  const auto role = required_member(object, "role");
  ChatMessage message;
  const std::string& name = role->text();
  if (name == "system" || name == "developer")
    message.role = Role::kSystem;
  else if (name == "user")
    message.role = Role::kUser;
  else if (name == "assistant")
    message.role = Role::kAssistant;
  else if (name == "tool")
    message.role = Role::kTool;
  else
    role->expected("system, developer, user, assistant or tool");
  if (const auto content = object.find("content")) read_content(*content, message);
  if (message.role == Role::kAssistant) {
    for (const auto* key : {"reasoning", "reasoning_content"}) {
      const auto thinking = object.find(key);
      if (thinking && thinking->json().is_string()) message.thinking = thinking->text();
    }
    const auto refusal = object.find("refusal");
    if (refusal && message.parts.empty()) message.parts.emplace_back(TextPart{refusal->text()});
    if (const auto calls = object.find("tool_calls")) read_tool_calls(*calls, message);
  }
  if (message.role == Role::kTool) {
    if (const auto id = object.find("tool_call_id")) message.call_id = id->text();
    if (const auto tool = object.find("name")) message.tool_name = tool->text();
  }
  return message;
}

OutputFormat read_response_format(const JsonReader& format) {
  const auto type = required_member(format, "type");
  if (type->text() == "text") return {};
  if (type->text() == "json_object") return {OutputKind::kJsonObject, nullptr};
  if (type->text() != "json_schema") type->expected("text, json_object or json_schema");
  const auto wrapped = required_member(format, "json_schema");
  wrapped->object();
  const auto schema = wrapped->find("schema");  // without one it is JSON of any shape
  return {OutputKind::kJsonSchema, schema ? schema->object() : Json::object()};
}

void read_openai_options(const JsonReader& request, OpenAiChatRequest& result) {
  Turn& turn = result.turn;
  if (const auto stream = request.find("stream")) result.stream = stream->boolean();
  if (const auto options = request.find("stream_options")) {
    if (const auto usage = options->find("include_usage")) result.figures.usage_at_end = usage->boolean();
  }
  if (const auto timings = request.find("timings_per_token")) result.figures.timings_per_token = timings->boolean();
  for (const auto* key : {"max_tokens", "max_completion_tokens"}) {
    if (const auto limit = request.find(key)) turn.max_tokens = read_token_limit(*limit);
  }
  if (const auto stop = request.find("stop")) turn.stop = read_stops(*stop, kMostStops);
  read_sampling(request, turn.sampling);
  if (const auto answers = request.find("n")) turn.answers = answers->integer<std::size_t>(1, kMostAnswers);
  if (const auto format = request.find("response_format")) turn.format = read_response_format(*format);
  if (const auto effort = request.find("reasoning_effort")) {
    turn.thinking = read_effort(*effort);
    turn.thinking_field = "reasoning_effort";
  }
  if (const auto kwargs = request.find("chat_template_kwargs")) {
    if (const auto thinking = kwargs->find("enable_thinking")) {
      turn.thinking = thinking->boolean() ? Thinking::kOn : Thinking::kOff;
      turn.thinking_field = "chat_template_kwargs.enable_thinking";
    }
  }
  if (const auto truncate = request.find("truncate")) {
    if (truncate->text() != "oldest_turns") truncate->expected("oldest_turns");
    turn.drop_oldest_turns = true;
  }
  if (const auto metadata = request.find("metadata")) {
    const auto task = metadata->json().find("task");
    turn.is_task = task != metadata->json().end() && task->is_string() && is_name_of_task(task->get<std::string>());
  }
  if (const auto conversation = request.find("chat_id")) {
    turn.conversation = conversation->text();
    turn.conversation_field = "chat_id";
  }
  if (const auto modalities = request.find("modalities")) {
    for (std::size_t i = 0; i < modalities->array().size(); ++i) {
      if (modalities->element(i).text() != "text") modalities->refuse("only text can be made here");
    }
  }
}

}  // namespace

std::span<const Field> openai_chat_fields() { return kOpenAiChatFields; }

OpenAiChatRequest read_openai_chat(const Json& json) {
  OpenAiChatRequest result;
  read_request(json, [&result](const JsonReader& request) {
    result.ignored = check_fields(kOpenAiChatFields, request);
    Turn& turn = result.turn;
    if (const auto model = request.find("model")) turn.model = model->text();
    const auto messages = required_member(request, "messages");
    if (messages->array().empty()) messages->refuse("expected at least one message");
    bool has_other_names = false;
    for (std::size_t i = 0; i < messages->array().size(); ++i) {
      const JsonReader message = messages->element(i);
      turn.messages.push_back(read_message(message));
      has_other_names = has_other_names || (turn.messages.back().role != Role::kTool && message.find("name"));
    }
    if (has_other_names) result.ignored.emplace_back("messages[].name");
    name_tool_results(turn.messages);
    if (const auto tools = request.find("tools")) turn.tools = read_nested_tools(*tools);
    if (const auto choice = request.find("tool_choice")) read_tool_choice(*choice, FunctionForm::kNested, turn);
    if (const auto parallel = request.find("parallel_tool_calls")) turn.parallel_calls = parallel->boolean();
    read_openai_options(request, result);
  });
  return result;
}

}  // namespace rkllm_mcp::chat
