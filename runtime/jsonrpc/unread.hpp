// Parts of a long message that are kept as their JSON text until somebody needs what is in them. A request with a
// million numbers that waits for its model then costs what its client sent, and not eight times as much; and whoever
// hands it on, on the event loop, never walks over its values.
//
// Such a part stands in a Json value as a binary, which no JSON text can bring about. to_text() writes it out as it is;
// code that looks at values calls read_whole() first. Pure functions, any thread.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {

// `text` is the JSON text of one array or object, which has been found to be valid. It becomes one line.
Json unread_part(std::string_view text);
// An unread part of valid JSON text that is one line already; the text is moved.
inline Json unread_line(Json::binary_t::container_type text) { return Json::binary(std::move(text)); }
// The text of such a part; empty if `value` is none.
std::string_view unread_text(const Json& value);
// Whether there is such a part in it.
bool has_unread(const Json& value);

// The value with all its parts read. Throws RpcError (InvalidRequest) if one of them names a member twice, which is
// looked at only here, or if one has more values than `most_values`.
Json read_whole(Json value, std::size_t most_values = static_cast<std::size_t>(-1));
// Such a part, parsed as a message is: long parts in it stay text, and perhaps all of it is one long part.
Json read_outside(const Json& part);
// The most values that may be read on the event loop, which takes some milliseconds. Clients send fewer: the longest
// requests of agents have some thousands.
inline constexpr std::size_t kMostValuesReadOnLoop = std::size_t{32} * 1024;

// JSON text on one line, with the text of such parts as it is. Bytes that are not UTF-8 (a runtime's log line, say)
// become U+FFFD instead of an exception.
std::string to_text(const Json& value);
// Appends to_text(value) to `text`, in one piece of memory with the bytes that the caller is still to append.
void append_text(std::string& text, const Json& value, std::size_t still_to_come = 0);

}  // namespace rkllm_mcp
