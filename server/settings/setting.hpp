// One setting as a row of the list: its name, its type with the built-in value and the range, where the value lives in
// `Settings`, its documentation, and whether a new value takes effect while the program runs; and how a value is
// checked and put there. The list: table.hpp.
#pragma once

#include "settings/refused.hpp"
#include "settings/settings.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rkllm_mcp {

// Reads and writes one value of a Settings.
template <typename Value>
struct Access {
  Value (*get)(const Settings&);
  void (*set)(Settings&, Value);
};

struct BoolField {
  Access<bool> value;
  bool initial;
};

// What an integer is measured in. The setting's name has it (_bytes, _ms, _s, _days). kCount: the name says what is
// counted. kNone: the number counts nothing (a port).
enum class Unit { kNone, kCount, kBytes, kMilliseconds, kSeconds, kDays };

struct IntegerField {
  Access<std::int64_t> value;
  std::int64_t initial;
  std::int64_t min;
  std::int64_t max;
  Unit unit;
};

struct TextField {
  enum class Form { kAny, kIpAddress, kFileMode, kWebAddress, kWebAddressOrNone };
  Access<std::string> value;
  std::string_view initial;
  Form form;
};

// A setting that is one of a few words; the value is the word's index.
struct ChoiceField {
  Access<std::size_t> value;
  std::size_t initial;
  std::span<const std::string_view> words;
};

struct ListField {
  enum class Form { kAny, kNetworks };
  Access<std::vector<std::string>> value;
  std::string_view initial;  // words separated by commas
  Form form;
  std::span<const std::string_view> words{};  // that there may be; empty: any
};

// A section whose keys are the user's own names: by each an object with these members.
struct NamedField {
  struct Member {
    enum class Kind { kText, kFlag, kObject, kTexts, kTextMap, kNumber };  // kTextMap: an object of texts
    std::string_view name;
    Kind kind;
    std::string_view documentation;
    std::span<const std::string_view> words{};  // of a kText: what it may be; empty: anything
  };
  Access<Json> value;
  std::string_view initial;  // as JSON
  std::string_view what;     // "presets"
  std::span<const Member> members;
  std::span<const std::string_view> either{};  // each has exactly one of these members; empty: none has to be there
};

// An object of texts, whose names are the user's own.
struct TextMapField {
  Access<Json> value;
  std::string_view initial;  // as JSON
};

using Field = std::variant<BoolField, IntegerField, TextField, ChoiceField, ListField, NamedField, TextMapField>;

enum class Change { kAtStart, kWhileRunning };  // when a new value can take effect
// A secret is never shown. Of an address, user, password and options are not:
// "postgresql://user:password@host/name?...". Of servers that are started, what their variables ("env") hold is not:
// that is where access tokens are.
enum class Secrecy { kPublic, kSecret, kAddress, kVariables };

struct Setting {
  std::string_view section;  // "http", or of a section within another "tools.google"
  std::string_view key;      // empty: the setting is the whole section
  Field field;
  std::string_view documentation;
  Change change = Change::kAtStart;
  Secrecy secrecy = Secrecy::kPublic;
};

std::string name_of(const Setting& setting);                  // "http.port"
std::string variable_of(const Setting& setting);              // "RKLLM_MCP_HTTP_PORT"
std::string listed(std::span<const std::string_view> words);  // "a, b"
std::string expectation_of(const Setting& setting);           // "an integer from 1 to 600 (seconds)"

// Words separated by commas; spaces around them do not count.
std::vector<std::string> split_list(std::string_view text);

// Gives the setting its built-in value.
void set_initial(const Setting& setting, Settings& settings);

Json value_of(const Setting& setting, const Settings& settings);
// The setting's value as people may see it: what is secret is hidden.
Json shown_value(const Setting& setting, const Settings& settings);

// Assigns `value` if it is of the setting's type and in its range; else changes nothing and says what is wrong.
std::vector<Complaint> assign(const Setting& setting, const Json& value, Settings& settings);

// Assigns, like assign(), a value written as text, as in the environment and on the command line: strings as they are,
// booleans also as on, off, 1 and 0, lists with commas or as a JSON array, the rest as JSON.
std::vector<Complaint> assign_text(const Setting& setting, std::string_view text, Settings& settings);

}  // namespace rkllm_mcp
