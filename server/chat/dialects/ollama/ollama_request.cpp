#include "chat/dialects/ollama/ollama_request.hpp"

#include "chat/dialects/message_parts.hpp"
#include "chat/dialects/tool_fields.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr std::size_t kMostOllamaStops = 64;

constexpr Field kModelField{"model", kHonoured, kTextField,
                            "a preset, a file of runtime.model_dirs, an alias or a profile"};
constexpr Field kStreamField{"stream", kHonoured, kBooleanField, "true if absent"};
constexpr Field kFormatField{"format", kHonoured, kTextField | kObjectField, "json, or a JSON Schema"};
constexpr Field kOptionsField{"options", kHonoured, kObjectField, "see below"};
constexpr Field kKeepAliveField{"keep_alive", kHonoured, kTextField | kNumberField,
                                "seconds, \"5m\", -1 for ever, 0 unloads"};
constexpr Field kThinkField{"think", kHonoured, kBooleanField | kTextField, "true, false or a level"};
constexpr Field kLogprobsField{"logprobs", kIgnored, kBooleanField, "too slow on boards"};
constexpr Field kTopLogprobsField{"top_logprobs", kIgnored, kNumberField, "too slow on boards"};
constexpr Field kTruncateField{"truncate", kIgnored, kBooleanField, "a prompt that does not fit is an error"};
constexpr Field kShiftField{"shift", kIgnored, kBooleanField, "an answer ends where the context does"};

constexpr std::array kOllamaChatFields = {
    kModelField,
    Field{"messages", kHonoured, kArrayField, "none: the model is loaded, or unloaded with keep_alive 0"},
    Field{"tools", kHonoured, kArrayField, "functions"},
    kStreamField,
    kFormatField,
    kOptionsField,
    kKeepAliveField,
    kThinkField,
    kLogprobsField,
    kTopLogprobsField,
    kTruncateField,
    kShiftField,
};

constexpr std::array kOllamaGenerateFields = {
    kModelField,
    Field{"prompt", kHonoured, kTextField, "none: the model is loaded, or unloaded with keep_alive 0"},
    Field{"system", kHonoured, kTextField, ""},
    Field{"raw", kHonoured, kBooleanField, "true: the prompt goes to the model as it is"},
    Field{"images", kHonoured, kArrayField, "refused by models without an encoder"},
    kStreamField,
    kFormatField,
    kOptionsField,
    kKeepAliveField,
    kThinkField,
    kLogprobsField,
    kTopLogprobsField,
    kTruncateField,
    kShiftField,
    Field{"context", kIgnored, kArrayField, "token numbers of another server mean nothing here"},
    Field{"suffix", kRefused, kTextField, "no model here fills gaps"},
    Field{"template", kRefused, kTextField, "set models.NAME.template in the settings"},
    Field{"width", kRefused, kNumberField, "no pictures are made here"},
    Field{"height", kRefused, kNumberField, "no pictures are made here"},
    Field{"steps", kRefused, kNumberField, "no pictures are made here"},
};

constexpr std::array kOllamaOptionFields = {
    Field{"num_ctx", kHonoured, kNumberField, "other than the model was loaded with: ignored and named"},
    Field{"num_predict", kHonoured, kNumberField, "-1 and -2: to the end of the context; 0: load only"},
    Field{"temperature", kHonoured, kNumberField, "from 0"},
    Field{"top_k", kHonoured, kNumberField, "from 1; 0 and -1: every token may come"},
    Field{"top_p", kHonoured, kNumberField, "0 to 1"},
    Field{"repeat_penalty", kHonoured, kNumberField, "0 to 10"},
    Field{"frequency_penalty", kHonoured, kNumberField, "-2 to 2"},
    Field{"presence_penalty", kHonoured, kNumberField, "-2 to 2"},
    Field{"mirostat", kHonoured, kNumberField, "0 to 2"},
    Field{"mirostat_tau", kHonoured, kNumberField, ""},
    Field{"mirostat_eta", kHonoured, kNumberField, ""},
    Field{"stop", kHonoured, kTextField | kArrayField, ""},
    Field{"seed", kIgnored, kNumberField, "the runtime has none"},
    Field{"min_p", kIgnored, kNumberField, "the runtime has none"},
    Field{"typical_p", kIgnored, kNumberField, "the runtime has none"},
    Field{"tfs_z", kIgnored, kNumberField, "the runtime has none"},
    Field{"repeat_last_n", kIgnored, kNumberField, "the runtime has none"},
    Field{"penalize_newline", kIgnored, kBooleanField, "the runtime has none"},
    Field{"num_keep", kIgnored, kNumberField, "nothing is dropped"},
    Field{"num_batch", kIgnored, kNumberField, "set when a model is loaded"},
    Field{"num_gpu", kIgnored, kNumberField, "the model runs on the NPU"},
    Field{"main_gpu", kIgnored, kNumberField, "the model runs on the NPU"},
    Field{"num_thread", kIgnored, kNumberField, "set when a model is loaded"},
    Field{"low_vram", kIgnored, kBooleanField, "the model runs on the NPU"},
    Field{"use_mmap", kIgnored, kBooleanField, "set when a model is loaded"},
    Field{"use_mlock", kIgnored, kBooleanField, "set when a model is loaded"},
    Field{"logits_all", kIgnored, kBooleanField, "set when a model is loaded"},
    Field{"vocab_only", kIgnored, kBooleanField, "set when a model is loaded"},
    Field{"embedding_only", kIgnored, kBooleanField, "use /api/embed"},
    Field{"numa", kIgnored, kBooleanField, "set when a model is loaded"},
};

void add_images(const JsonReader& images, ChatMessage& message) {
  for (std::size_t i = 0; i < images.array().size(); ++i) {
    message.parts.emplace_back(ImagePart{"", images.element(i).text()});
  }
}

ChatMessage read_ollama_message(const JsonReader& object) {
  object.object();
  const auto role = required_member(object, "role");
  ChatMessage message;
  if (role->text() == "system")
    message.role = Role::kSystem;
  else if (role->text() == "user")
    message.role = Role::kUser;
  else if (role->text() == "assistant")
    message.role = Role::kAssistant;
  else if (role->text() == "tool")
    message.role = Role::kTool;
  else
    role->expected("system, user, assistant or tool");
  if (const auto content = object.find("content")) message.parts.emplace_back(TextPart{content->text()});
  if (const auto images = object.find("images")) add_images(*images, message);
  if (const auto thinking = object.find("thinking")) message.thinking = thinking->text();
  if (const auto calls = object.find("tool_calls")) read_tool_calls(*calls, message);
  for (const auto* key : {"name", "tool_name"}) {
    if (const auto name = object.find(key)) message.tool_name = name->text();
  }
  if (const auto id = object.find("tool_call_id")) message.call_id = id->text();
  return message;
}

void read_ollama_options(const JsonReader& options, OllamaRequest& result) {
  for (const std::string& name : check_fields(kOllamaOptionFields, options))
    result.ignored.push_back("options." + name);
  Turn& turn = result.turn;
  // Ollama has no upper limit, nor has the runtime, but for what a float holds.
  read_sampling(options, turn.sampling, double{std::numeric_limits<float>::max()});
  if (const auto stop = options.find("stop")) turn.stop = read_stops(*stop, kMostOllamaStops);
  if (const auto context = options.find("num_ctx")) turn.context = read_token_limit(*context);
  if (const auto limit = options.find("num_predict")) {
    const std::int64_t tokens = read_token_limit(*limit, -2);
    if (tokens > 0) turn.max_tokens = tokens;
    if (tokens == 0) result.wish = OllamaWish::kLoad;
  }
}

// Without anything to answer, a request is about the model alone.
void load_or_unload(OllamaRequest& result) {
  const auto& keep = result.turn.keep_alive;
  result.wish = keep && keep->unloads() ? OllamaWish::kUnload : OllamaWish::kLoad;
}

void read_common(const JsonReader& request, OllamaRequest& result) {
  Turn& turn = result.turn;
  if (const auto model = request.find("model")) turn.model = model->text();
  if (const auto stream = request.find("stream")) result.stream = stream->boolean();
  if (const auto format = request.find("format")) {
    if (format->json().is_object()) {
      turn.format = {OutputKind::kJsonSchema, format->json()};
      turn.format_field = "format";
    } else if (format->text() == "json") {
      turn.format = {OutputKind::kJsonObject, nullptr};
    } else if (!format->text().empty()) {
      format->expected("\"json\" or a JSON Schema");
    }
  }
  if (const auto options = request.find("options")) read_ollama_options(*options, result);
  if (const auto keep = request.find("keep_alive")) turn.keep_alive = read_keep_alive(*keep);
  if (const auto think = request.find("think")) {
    turn.thinking_field = "think";
    if (think->json().is_string()) {
      turn.thinking = read_effort(*think);
    } else {
      turn.thinking = think->boolean() ? Thinking::kOn : Thinking::kOff;
    }
  }
  if (result.wish == OllamaWish::kLoad) load_or_unload(result);
}

}  // namespace

KeepAlive read_keep_alive(const JsonReader& value) {
  constexpr double kMostSeconds = 1e9;
  const auto of_seconds = [](double seconds) { return KeepAlive{seconds < 0, std::max(seconds, 0.0)}; };
  if (value.json().is_number()) return of_seconds(value.number(-kMostSeconds, kMostSeconds));
  constexpr std::array<std::pair<std::string_view, double>, 7> kUnits = {
      {{"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6}, {"ns", 1e-9}, {"h", 3600}, {"m", 60}, {"s", 1}}};
  std::string_view rest = value.text();
  const bool is_negative = rest.starts_with('-');
  if (is_negative) rest.remove_prefix(1);
  double seconds = 0;
  if (rest.empty()) value.expected("seconds, or a duration such as \"5m\"");
  while (!rest.empty()) {
    const auto digits = std::min(rest.find_first_not_of("0123456789."), rest.size());
    const auto number = rest.substr(0, digits);
    constexpr std::size_t kMostDigits = 20;
    if (digits == 0 || digits > kMostDigits || number == "." || std::ranges::count(number, '.') > 1) {
      value.expected("seconds, or a duration such as \"5m\"");
    }
    const double amount = std::stod(std::string(number));
    rest.remove_prefix(digits);
    const bool is_whole_text = digits == value.text().size() - (is_negative ? 1 : 0);
    const auto unit = std::ranges::find_if(kUnits, [rest](const auto& each) { return rest.starts_with(each.first); });
    if (unit == kUnits.end() && !is_whole_text) value.expected("seconds, or a duration such as \"5m\"");
    seconds += amount * (is_whole_text ? 1 : unit->second);
    if (!is_whole_text) rest.remove_prefix(unit->first.size());
  }
  if (seconds > kMostSeconds) value.expected("a shorter time; -1 means for ever");
  return of_seconds(is_negative && seconds > 0 ? -seconds : seconds);
}

std::span<const Field> ollama_chat_fields() { return kOllamaChatFields; }
std::span<const Field> ollama_generate_fields() { return kOllamaGenerateFields; }
std::span<const Field> ollama_option_fields() { return kOllamaOptionFields; }

OllamaRequest read_ollama_chat(const Json& json) {
  OllamaRequest result;
  read_request(json, [&result](const JsonReader& request) {
    result.ignored = check_fields(kOllamaChatFields, request);
    read_common(request, result);
    if (const auto messages = request.find("messages")) {
      for (std::size_t i = 0; i < messages->array().size(); ++i) {
        result.turn.messages.push_back(read_ollama_message(messages->element(i)));
      }
    }
    name_tool_results(result.turn.messages);
    if (const auto tools = request.find("tools")) result.turn.tools = read_nested_tools(*tools);
    if (result.turn.messages.empty()) load_or_unload(result);
  });
  return result;
}

OllamaRequest read_ollama_generate(const Json& json) {
  OllamaRequest result;
  read_request(json, [&result](const JsonReader& request) {
    result.ignored = check_fields(kOllamaGenerateFields, request);
    result.turn.prompt_field = "prompt";
    result.turn.images_field = "images";
    read_common(request, result);
    const auto prompt = request.find("prompt");
    const auto images = request.find("images");
    const auto system = request.find("system");
    const auto raw = request.find("raw");
    const bool has_images = images && !images->array().empty();
    if ((!prompt || prompt->text().empty()) && !has_images) {
      load_or_unload(result);
      return;
    }
    if (raw && raw->boolean()) {
      if (has_images) images->refuse("a raw prompt has no place for pictures");
      if (system && !system->text().empty()) result.ignored.emplace_back("system");
      result.turn.raw_prompt = prompt->text();
      return;
    }
    if (system && !system->text().empty()) result.turn.messages.push_back(text_message(Role::kSystem, system->text()));
    ChatMessage message = text_message(Role::kUser, prompt ? prompt->text() : "");
    if (has_images) add_images(*images, message);
    result.turn.messages.push_back(std::move(message));
  });
  return result;
}

}  // namespace rkllm_mcp::chat
