// What a transcript expects of a message: JSON in which some strings stand for "anything of this kind".
#pragma once

#include <rkllm_mcp/json.hpp>

#include <map>
#include <string>

namespace rkllm_mcp::test {

// Values by name; a pattern such as "$string:handle" adds one.
using Variables = std::map<std::string, Json>;

// Why `value` does not match, with the path; empty if it does. README.md in tests/transcripts tells the patterns.
std::string unmatched(const Json& pattern, const Json& value, Variables& variables,
                      const std::string& path = "message");

// Replaces each ${name} in `text`: a string by its escaped characters, anything else by its JSON text. Throws
// std::runtime_error for a name that has no value.
std::string substitute(const std::string& text, const Variables& variables);

}  // namespace rkllm_mcp::test
