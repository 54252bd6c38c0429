// The one list of all settings: name, type, range, documentation, where the value lives in `Settings`, and whether a
// new one takes effect while the program runs. Reading and checking, the schema, the environment's and the command
// line's names, the written file and `rkllm-mcp settings` all come from it. Defaults do not stand here: they are those
// of a default-made Settings, which has them from settings_defaults.h.in, where a build can set them.
#pragma once

#include "limit.hpp"
#include "settings/settings.hpp"

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
};

// What an integer is measured in. The setting's name has it (_bytes, _ms, _s, _days). kCount: the name says what is
// counted. kNone: the number counts nothing (a port).
enum class Unit { kNone, kCount, kBytes, kMilliseconds, kSeconds, kDays };

struct IntegerField {
  Access<std::int64_t> value;
  std::int64_t min;
  std::int64_t max;
  Unit unit;
};

struct TextField {
  enum class Form { kAny, kIpAddress, kFileMode, kWebAddress, kWebAddressOrNone };
  Access<std::string> value;
  Form form;
};

// A setting that is one of a few words; the value is the word's index.
struct ChoiceField {
  Access<std::size_t> value;
  std::span<const std::string_view> words;
};

struct ListField {
  enum class Form { kAny, kNetworks };
  Access<std::vector<std::string>> value;
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
  std::string_view what;  // "presets"
  std::span<const Member> members;
  std::span<const std::string_view> either{};  // each has exactly one of these members; empty: none has to be there
};

// An object of texts, whose names are the user's own.
struct TextMapField {
  Access<Json> value;
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

std::span<const Setting> settings_table();  // sections together, in the order of the written file

std::string name_of(const Setting& setting);                  // "http.port"
std::string variable_of(const Setting& setting);              // "RKLLM_MCP_HTTP_PORT"
std::string listed(std::span<const std::string_view> words);  // "a, b"
std::string expectation_of(const Setting& setting);           // "an integer from 1 to 600 (seconds)"
const Setting* find_setting(std::string_view name);           // by "http.port"; null if there is none

std::string_view documentation_of_section(std::string_view section);  // empty if there is no such section

// The name that was probably meant: of the whole "section.key" names, or of the sections if `name` has no dot.
std::string nearest_name(std::string_view name);

Json value_of(const Setting& setting, const Settings& settings);
// The setting's value as people may see it: what is secret is hidden.
Json shown_value(const Setting& setting, const Settings& settings);

// What a settings file looks like, as JSON Schema (draft 2020-12), with documentation, ranges and defaults: editors
// show it.
Json settings_schema();
// A settings file with every built-in value; it names the schema beside it.
Json default_settings_file();

// The setting behind each limit of the runtime library. Threads: any.
inline constexpr LimitNames kSettingOfLimit{
    "limits.max_message_bytes",
    "limits.max_depth",
    "limits.max_id_bytes",
    "limits.max_connections",
    "limits.max_connections_per_peer",
    "limits.max_requests_per_connection",
    "limits.stall_s",
    "limits.idle_s",
    "http.header_bytes",
    "http.header_timeout_s",
    "stream.buffer_bytes",
    "stream.values_bytes",
    "stream.memory_bytes",
    "stream.poll_timeout_s",
    "queue.max_per_handle",
    "queue.timeout_s",
    "limits.max_handles",
    "auth.tokens",
    "limits.memory_bytes",
    "limits.message_timeout_s",
    "limits.max_reply_bytes",
};
static_assert(!kSettingOfLimit.back().empty(), "each limit has a setting");

}  // namespace rkllm_mcp
