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

}  // namespace

Tool read_tool(const JsonReader& tool, std::string_view schema_key) {
  tool.object();
  const auto name = required_member(tool, "name");
  if (name->text().empty()) name->expected("a name");
  Tool result{.name = name->text()};
  if (const auto description = tool.find("description")) result.description = description->text();
  if (const auto schema = tool.find(schema_key)) result.parameters = schema->object();
  return result;
}

void check_tool_names(const JsonReader& tools, const std::vector<Tool>& list) {
  std::set<std::string_view> names;
  for (const Tool& tool : list) {
    if (!names.insert(tool.name).second) tools.refuse("two tools have the same name");
  }
}

std::vector<Tool> read_nested_tools(const JsonReader& tools) {
  std::vector<Tool> list;
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

void read_sampling(const JsonReader& options, SamplingWish& sampling) {
  constexpr std::int32_t kMostTopK = 1'000'000;
  if (const auto top_k = options.find("top_k")) sampling.top_k = top_k->integer<std::int32_t>(1, kMostTopK);
  read_number(options, "temperature", 0, 2, sampling.temperature);
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
