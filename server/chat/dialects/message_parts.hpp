// What the dialects' messages have in common.
#pragma once

#include "chat/turn/turn.hpp"

#include <rkllm_mcp/json_reader.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

// The parts of a content that is no string. Throws InvalidParams.
const Json& parts_of(const JsonReader& content);

// The picture of a "data:image/png;base64,..." address. Other addresses are refused: this server fetches nothing for a
// prompt. Throws InvalidParams.
ImagePart image_of_address(const JsonReader& address);

// A string, or an array of strings; throws InvalidParams if one is empty or there are more than `most`.
std::vector<std::string> read_stops(const JsonReader& value, std::size_t most);

// Arguments of a call, as clients send them back: the JSON text of an object, or the object itself. In one line; what
// is no JSON of an object, since the call broke off, as it is.
std::string read_arguments(const JsonReader& value);

// An assistant's tool_calls: [{id?, function{name, arguments?}}]. Throws InvalidParams.
void read_tool_calls(const JsonReader& calls, ChatMessage& message);

// Fills in the names of the tools that results are of, from the calls before them.
void name_tool_results(std::vector<ChatMessage>& messages);

}  // namespace rkllm_mcp::chat
