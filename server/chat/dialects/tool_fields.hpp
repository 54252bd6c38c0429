// Options and tools the way several dialects write them.
#pragma once

#include "chat/dialects/field_table.hpp"
#include "chat/turn/turn.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

// [{"type":"function","function":{name, description?, parameters?}}]: OpenAI's chat and Ollama. Throws InvalidParams.
std::vector<FunctionTool> read_nested_tools(const JsonReader& tools);
// {name, description?, parameters?}, where the parameters' member is named `schema_key`.
FunctionTool read_tool(const JsonReader& tool, std::string_view schema_key);
// Refuses two tools of one name, which no answer could tell apart.
void check_tool_names(const JsonReader& tools, const std::vector<FunctionTool>& list);

// OpenAI's older API puts what it says of a function into a member "function", beside its type.
enum class FunctionForm { kNested, kFlat };
// OpenAI's tool_choice: "none", "auto", "required", a function, or allowed_tools, which leave no others in turn.tools.
// Throws InvalidParams.
void read_tool_choice(const JsonReader& choice, FunctionForm form, Turn& turn);

// Reads temperature, top_p, top_k and the penalties, by the names that they have everywhere.
void read_sampling(const JsonReader& options, SamplingWish& sampling, double most_temperature = 2);

// "none", "minimal", "low" ... "xhigh": how much to think. The first two: not at all.
Thinking read_effort(const JsonReader& effort);

// A number of tokens that may be made: at least `least`.
std::int64_t read_token_limit(const JsonReader& value, std::int64_t least = 1);

}  // namespace rkllm_mcp::chat
