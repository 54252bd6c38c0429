// What becomes of each field that a dialect's publisher has defined: honoured, ignored (and named in the response's
// header x-rkllm-ignored), or refused. One table for each dialect is the only place that says so; readers of requests
// and the documentation follow it. Fields that no table has are ignored without a word.
//
// A field may stand inside others: "reasoning.summary", or "tools[].strict", which is that of any element.
#pragma once

#include "chat/turn/turn_error.hpp"

#include <rkllm_mcp/json_reader.hpp>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

enum class Treatment { kHonoured, kIgnored, kRefused };
using enum Treatment;

// Kinds of JSON values, as bits.
enum FieldKind : unsigned { kBooleanField = 1, kNumberField = 2, kTextField = 4, kObjectField = 8, kArrayField = 16 };

struct Field {
  std::string_view name;
  Treatment treatment;
  unsigned kinds;         // what it may be; null is always taken for absent
  std::string_view note;  // for the documentation: what it does here, or why not
};

// Holds a request against the table. Returns the ignored fields that ask for something (null, false and what is empty
// do not), in the table's order. Throws InvalidParams for a wrong kind, TurnError (kNotSupported) for a refused field
// that asks for something, as an empty object does there.
std::vector<std::string> check_fields(std::span<const Field> table, const JsonReader& request);

// A member that must be there. Throws InvalidParams; never empty. Borrows `object`.
std::optional<JsonReader> required_member(const JsonReader& object, std::string_view name);

// The value of x-rkllm-ignored: "seed, logprobs", at last perhaps "and 5 more"; empty: no header.
std::string ignored_header(const std::vector<std::string>& fields);

// Calls `read` with a reader of `request`, and makes TurnErrors of what it complains of.
void read_request(const Json& request, const std::function<void(const JsonReader&)>& read);

// The table as Markdown. docs/chat.md has each, and a test holds the page to it: that is what the dialects show their
// tables for.
std::string field_documentation(std::span<const Field> table);

}  // namespace rkllm_mcp::chat
