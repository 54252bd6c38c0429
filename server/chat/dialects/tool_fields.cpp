#include "chat/dialects/tool_fields.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

namespace rkllm_mcp::chat {
namespace {

void read_number(const JsonReader& options, std::string_view name, double least, double most,
                 std::optional<double>& wish) {
  if (const auto value = options.find(name)) wish = value->number(least, most);
}

std::string_view type_of(const JsonReader& object) {
  object.object();
  const auto type = object.find("type");
  return type ? std::string_view(type->text()) : "function";
}

// The object that describes the tool or choice: the member that is named like its type, or `object` itself (kFlat).
std::optional<JsonReader> said_of(const JsonReader& object, std::string_view type, FunctionForm form) {
  if (form == FunctionForm::kFlat) return object;
  auto inside = required_member(object, type);
  inside->object();
  return inside;
}

void keep_allowed(const JsonReader& allowed, FunctionForm form, std::vector<FunctionTool>& tools) {
  std::set<std::string_view> offered;
  for (const FunctionTool& tool : tools) offered.insert(tool.name);
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < allowed.array().size(); ++i) {
    const JsonReader each = allowed.element(i);
    if (type_of(each) != "function") each.find("type")->refuse("only functions can be allowed here");
    const auto function = said_of(each, "function", form);
    const auto name = required_member(*function, "name");
    if (!offered.contains(name->text())) name->refuse("there is no tool with this name");
    names.insert(name->text());
  }
  std::erase_if(tools, [&names](const FunctionTool& tool) { return names.count(tool.name) == 0; });
}

}  // namespace

FunctionTool read_tool(const JsonReader& tool, std::string_view schema_key) {
  tool.object();
  const auto name = required_member(tool, "name");
  if (name->text().empty()) name->expected("a name");
  FunctionTool result{.name = name->text()};
  if (const auto description = tool.find("description")) result.description = description->text();
  if (const auto schema = tool.find(schema_key)) result.parameters = schema->object();
  return result;
}

void check_tool_names(const JsonReader& tools, const std::vector<FunctionTool>& list) {
  std::set<std::string_view> names;
  for (const FunctionTool& tool : list) {
    if (!names.insert(tool.name).second) tools.refuse("two tools have the same name");
  }
}

std::vector<FunctionTool> read_nested_tools(const JsonReader& tools) {
  std::vector<FunctionTool> list;
  for (std::size_t i = 0; i < tools.array().size(); ++i) {
    const JsonReader tool = tools.element(i);
    tool.object();
    const auto type = tool.find("type");
    if (type && type->text() != "function") type->refuse("only tools of type function can be offered");
    const auto function = required_member(tool, "function");
    list.push_back(read_tool(*function, "parameters"));
  }
  check_tool_names(tools, list);
  return list;
}

void read_tool_choice(const JsonReader& choice, FunctionForm form, Turn& turn) {
  if (choice.json().is_string()) {
    const std::string& word = choice.text();
    if (word == "none")
      turn.tool_choice.use = ToolUse::kNone;
    else if (word == "required")
      turn.tool_choice.use = ToolUse::kRequired;
    else if (word != "auto")
      choice.expected("none, auto, required, a function or allowed_tools");
    return;
  }
  const std::string_view type = type_of(choice);
  if (type == "function") {
    turn.tool_choice = {ToolUse::kNamed, required_member(*said_of(choice, type, form), "name")->text()};
    return;
  }
  if (type != "allowed_tools") choice.find("type")->expected("function or allowed_tools, which are supported here");
  const auto allowed = said_of(choice, type, form);
  if (const auto mode = allowed->find("mode")) {
    if (mode->text() != "auto" && mode->text() != "required") mode->expected("auto or required");
    if (mode->text() == "required") turn.tool_choice.use = ToolUse::kRequired;
  }
  keep_allowed(*required_member(*allowed, "tools"), form, turn.tools);
}

void read_sampling(const JsonReader& options, SamplingWish& sampling, double most_temperature) {
  // The runtime does not say what 0 means to it; to clients it means that every token may come, as does llama.cpp's -1.
  constexpr std::int32_t kMostTopK = 1'000'000;  // more than any model has tokens
  if (const auto top_k = options.find("top_k")) {
    const auto wanted = top_k->integer<std::int32_t>(-1, kMostTopK);
    sampling.top_k = wanted > 0 ? wanted : kMostTopK;
  }
  read_number(options, "temperature", 0, most_temperature, sampling.temperature);
  read_number(options, "top_p", 0, 1, sampling.top_p);
  read_number(options, "frequency_penalty", -2, 2, sampling.frequency_penalty);
  read_number(options, "presence_penalty", -2, 2, sampling.presence_penalty);
  read_number(options, "repetition_penalty", 0, 10, sampling.repeat_penalty);  // vLLM's name
  read_number(options, "repeat_penalty", 0, 10, sampling.repeat_penalty);
  read_number(options, "mirostat_tau", 0, 100, sampling.mirostat_tau);
  read_number(options, "mirostat_eta", 0, 1, sampling.mirostat_eta);
  if (const auto mirostat = options.find("mirostat")) sampling.mirostat = mirostat->integer<std::int32_t>(0, 2);
}

Thinking read_effort(const JsonReader& effort) {
  constexpr std::array<std::string_view, 2> kNone = {"none", "minimal"};
  constexpr std::array<std::string_view, 5> kSome = {"low", "medium", "high", "xhigh", "max"};
  if (std::ranges::find(kNone, effort.text()) != kNone.end()) return Thinking::kOff;
  if (std::ranges::find(kSome, effort.text()) == kSome.end())
    effort.expected("none, minimal, low, medium, high or xhigh");
  return Thinking::kOn;
}

std::int64_t read_token_limit(const JsonReader& value, std::int64_t least) {
  return value.integer<std::int64_t>(least, std::numeric_limits<std::int32_t>::max());
}

}  // namespace rkllm_mcp::chat
