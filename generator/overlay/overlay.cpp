#include "overlay/overlay.hpp"

#include "bindgen_json.hpp"
#include "diagnostics.hpp"
#include "files.hpp"
#include "manifest.hpp"
#include "overlay/schema_check.hpp"
#include "read/clean_text.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace bindgen {
namespace {

ValueRef reference(const std::string& text) {
  static const std::string kSession = "session.";
  if (text.compare(0, kSession.size(), kSession) == 0) return HandleValueRef{text.substr(kSession.size())};
  return FieldRef{text};
}

HandleValueRef handle_value_reference(const Json& json) {
  return std::get<HandleValueRef>(reference(json.get<std::string>()));
}

Presence presence(const Json& json, Presence otherwise) {
  if (json.value("nullable", false)) return Presence::kNullable;
  if (json.value("empty_if_absent", false)) return Presence::kEmptyIfAbsent;
  if (json.value("required", false)) return Presence::kRequired;
  return otherwise;
}

template <class T>
std::optional<T> optional(const Json& json, const char* key) {
  if (!json.contains(key)) return std::nullopt;
  return json.at(key).get<T>();
}

std::optional<Constant> constant(const Json& json, const char* key) {
  if (!json.contains(key)) return std::nullopt;
  const Json& value = json.at(key);
  if (value.is_boolean()) return value.get<bool>();
  const bool is_too_large = value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX;
  if (value.is_number_integer() && !is_too_large) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  return value.get<std::string>();
}

Meaning read_array(const Json& json) {
  meaning::Array array{CountedBy{},
                       presence(json, Presence::kRequired),
                       optional<std::int64_t>(json, "minimum"),
                       {},
                       json.value("together_with", ""),
                       json.value("freed_by", ""),
                       json.value("changed", false),
                       json.value("told_only", false)};
  if (json.contains("below")) array.below = handle_value_reference(json.at("below"));
  if (json.contains("exactly")) {
    array.length = Exactly{handle_value_reference(json.at("exactly"))};
  } else if (json.contains("multiple_of")) {
    array.length = MultipleOf{json.at("multiple_of")};
  } else if (json.contains("whole")) {
    array.length = Whole{};
  } else if (json.contains("same_length_as")) {
    array.length = SameLengthAs{json.at("same_length_as")};
  } else {
    CountedBy counted{json.value("counted_by", ""), {}};
    for (const Json& factor : json.value("times", Json::array())) counted.times.push_back(reference(factor));
    array.length = std::move(counted);
  }
  return array;
}

Meaning read_union(const Json& json) {
  meaning::TaggedUnion result{json.at("tag"), {}};
  for (const auto& [member, enumerator] : json.at("members").items()) result.members.emplace_back(member, enumerator);
  return result;
}

Meaning read_handle(const Json& json) {
  const std::string role = json.at("role");
  if (role == "creates") return meaning::CreatesHandle{};
  if (role == "destroys") return meaning::DestroysHandle{};
  return meaning::UsesHandle{};
}

Meaning read_out(const Json& json) {
  if (json.contains("count")) return meaning::OutArray{handle_value_reference(json.at("count"))};
  if (json.contains("room") || json.contains("whole"))
    return meaning::OutRoom{json.value("room", ""), json.value("filled", "")};
  if (!json.contains("chosen_by")) return meaning::OutValue{};
  meaning::OutChosen chosen{json.at("chosen_by"), json.at("size"), {}};
  for (const auto& [enumerator, name] : json.at("structs").items()) chosen.structs.emplace_back(enumerator, name);
  return chosen;
}

meaning::FileUse file_use(const Json& json) {
  const std::string use = json.value("file", "");
  if (use == "read") return meaning::FileUse::kRead;
  if (use == "written") return meaning::FileUse::kWritten;
  return meaning::FileUse::kNone;
}

// The keys of which an entry may have one, and what they mean.
const std::map<std::string, Meaning (*)(const Json&)>& meaning_readers() {
  static const std::map<std::string, Meaning (*)(const Json&)> kReaders = {
      {"value",
       [](const Json& json) -> Meaning {
         return meaning::Value{presence(json, Presence::kOptional), optional<double>(json, "minimum"),
                               optional<double>(json, "maximum"), json.value("flag", false),
                               json.value("present_if", "")};
       }},
      {"text",
       [](const Json& json) -> Meaning {
         return meaning::Text{presence(json, Presence::kRequired),
                              json.value("min_length", 0U),
                              json.value("json", false),
                              json.value("freed_by", ""),
                              file_use(json),
                              json.value("file_if_absent", ""),
                              json.value("one_of", std::vector<std::string>{})};
       }},
      {"object",
       [](const Json& json) -> Meaning {
         return meaning::Object{presence(json, Presence::kRequired), json.value("starts_from", ""),
                                json.value("freed_by", ""), json.value("changed", false)};
       }},
      {"batch", [](const Json& json) -> Meaning { return meaning::Batch{handle_value_reference(json.at("count"))}; }},
      {"array", &read_array},
      {"union", &read_union},
      {"cpu_mask", [](const Json& json) -> Meaning { return meaning::CpuMask{json.at("count")}; }},
      {"handle", &read_handle},
      {"out", &read_out},
      {"in_out",
       [](const Json& json) -> Meaning {
         return meaning::InOut{optional<double>(json, "minimum"), optional<double>(json, "maximum")};
       }},
      {"callbacks", [](const Json&) -> Meaning { return meaning::Callbacks{}; }},
      {"userdata", [](const Json&) -> Meaning { return meaning::StreamUserdata{}; }},
      {"unused", [](const Json& json) -> Meaning { return meaning::Unused{json.value("whole", false)}; }},
      {"status", [](const Json&) -> Meaning { return meaning::Status{}; }},
      {"predicate",
       [](const Json& json) -> Meaning {
         return meaning::Predicate{json.at("name"), json.at("yes"), json.at("no")};
       }},
  };
  return kReaders;
}

Stream read_stream(const std::string& callback, const Json& json) {
  Stream stream{callback, json.at("result"), json.at("state"), {}, json.at("text"), json.at("token"), {}, {}, {}, 0};
  for (const auto& [state, event] : json.at("states").items()) {
    stream.states.emplace_back(state, event == "token" ? StreamEvent::kToken
                                      : event == "end" ? StreamEvent::kEnd
                                                       : StreamEvent::kFailure);
  }
  for (const Json& rows : json.value("rows", Json::array())) {
    stream.rows.push_back({rows.at("field"), rows.at("values"), rows.value("replaces_token", false)});
  }
  for (const Json& value : json.value("values", Json::array())) stream.values.push_back(value);
  for (const Json& value : json.value("unknown", Json::array())) stream.unknown.push_back(value);
  stream.frees_rows = json.value("frees_rows", 0);
  return stream;
}

FunctionRole read_function(const Json& json, const std::string& documentation) {
  FunctionRole role;
  role.title = json.value("title", "");
  role.is_listed = json.value("listed", true);
  role.read_only = json.value("read_only", false);
  role.destructive = json.value("destructive", false);
  role.idempotent = json.value("idempotent", false);
  role.immediate = json.value("immediate", false);
  role.aborts = json.value("aborts", false);
  role.streams_by_default = json.value("streams_by_default", false);
  role.running_probe = json.value("running_probe", "");
  role.documentation = documentation;
  if (json.contains("needs")) {
    const Json& needs = json.at("needs");
    role.needs = Precondition{{needs.at("session")}, needs.at("equals"), needs.at("why")};
  }
  return role;
}

// `source_line` is the line at `at`. Throws Refusal if the entry says two things at once.
OverlayEntry read_entry(const Json& json, const Location& at, const std::string& source_line) {
  OverlayEntry entry;
  entry.path = json.at("for");
  entry.quote = json.at("quote");
  entry.at = at;
  entry.default_value = constant(json, "default");
  entry.wire_default = constant(json, "wire_default");
  entry.remembered_as = json.value("session", "");
  entry.documentation = json.value("doc", "");
  entry.brief = optional<std::string>(json, "brief");
  entry.group = json.value("group", "");
  entry.since = json.value("since", "");
  entry.until = json.value("until", "");
  entry.default_since = json.value("default_since", "");
  entry.reason = json.value("reason", "");
  if (json.contains("guess") || json.value("confidence", "") == "guess")
    entry.guess = json.value("guess", Json::object()).dump();
  const auto take = [&](const std::string& key) {
    if (!json.contains(key)) return false;
    if (!entry.says.empty()) {
      throw Refusal(at, "the entry for " + entry.path + " says both \"" + entry.says + "\" and \"" + key + "\"",
                    source_line, "an entry says one thing; choose");
    }
    entry.says = key;
    return true;
  };
  for (const auto& [key, reader] : meaning_readers()) {
    if (take(key)) entry.meaning = reader(json.at(key));
  }
  if (take("stream")) entry.stream = read_stream(entry.path, json.at("stream"));
  if (take("function")) entry.function = read_function(json.at("function"), entry.documentation);
  return entry;
}

// nlohmann_json keeps no positions; but only entries have a key "for", so the n-th of those begins entry n.
std::vector<Location> entry_locations(const std::string& path, const std::string& text) {
  static const std::string kKey = "\"for\"";
  std::vector<Location> found;
  unsigned line = 1;
  std::size_t line_begin = 0;
  std::size_t seen = 0;
  for (auto at = text.find(kKey); at != std::string::npos; at = text.find(kKey, at + 1)) {
    const auto next = text.find_first_not_of(" \t\r\n", at + kKey.size());
    if (next == std::string::npos || text[next] != ':') continue;
    for (; seen < at; ++seen) {
      if (text[seen] != '\n') continue;
      ++line;
      line_begin = seen + 1;
    }
    found.push_back({path, line, static_cast<unsigned>(at - line_begin + 1)});
  }
  return found;
}

Json parse_json(const std::string& path, const std::string& text) {
  constexpr int kDeepest = 32;  // what goes through a value calls itself for each level; the schema knows 6
  const auto keep_shallow = [&path](int depth, Json::parse_event_t, const Json&) {
    if (depth > kDeepest) throw Refusal({path, 0, 0}, "this is nested deeper than any overlay");
    return true;
  };
  try {
    return Json::parse(text, keep_shallow);
  } catch (const Json::parse_error& error) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
    const auto line = static_cast<unsigned>(std::count(text.begin(), end, '\n') + 1);
    throw Refusal({path, line, 1}, "this is no JSON: " + clean(error.what()));
  } catch (const Json::out_of_range& error) {  // tells the number, but not where it stands
    throw Refusal({path, 0, 0}, "this cannot be read: " + std::string(error.what()));
  }
}

bool is_about(const OverlayEntry& entry, const std::string& version) {
  if (version.empty()) return entry.until.empty();
  return (entry.since.empty() || compare_versions(entry.since, version) <= 0) &&
         (entry.until.empty() || compare_versions(version, entry.until) <= 0);
}

}  // namespace

Overlay read_overlay(const std::string& path) { return parse_overlay(read_text(path), path); }

Overlay parse_overlay(const std::string& text, const std::string& path) {
  const std::vector<std::string> lines = lines_of(text);
  const Json json = parse_json(path, text);
  const std::vector<Location> locations = entry_locations(path, text);
  const auto location_of = [&](std::size_t entry) {
    return entry < locations.size() ? locations[entry] : Location{path, 0, 0};
  };
  const auto line_at = [&](const Location& at) { return at.line != 0 ? lines.at(at.line - 1) : std::string(); };

  std::vector<Diagnostic> complaints;
  for (const auto& [pointer, message] : violations(Json::parse(kOverlaySchema), json)) {
    Location at{path, 0, 0};
    static const std::string kEntries = "/entries/";
    if (pointer.compare(0, kEntries.size(), kEntries) == 0) {
      at = location_of(std::stoul(pointer.substr(kEntries.size())));
    }
    complaints.push_back({at, (pointer.empty() ? "" : pointer + ": ") + message, line_at(at),
                          "overlay.schema.json says what an overlay may hold"});
  }
  if (!complaints.empty()) throw Refusal(std::move(complaints));

  Overlay overlay{
      path, sha256(text), json.at("output").at("namespace"), json.at("output").at("include"), {}, {}, {}, {}, {}, {}};
  const Json handle_values = json.value("session", Json::object());
  for (const auto& [name, value] : handle_values.items()) {
    overlay.handle_values.push_back({name, value.at("learn")});
  }
  const Json returns = json.value("returns", Json::object());
  for (const auto& [type, value] : returns.items()) {
    overlay.returns[type] = value.contains("status") ? Meaning(meaning::Status{}) : Meaning(meaning::Unused{});
  }
  const Json groups = json.value("groups", Json::object());
  for (const auto& [name, documentation] : groups.items()) overlay.groups[name] = documentation;
  const Json renamed = json.value("renamed", Json::object());
  for (const auto& [older, now] : renamed.items()) overlay.renamed[older] = now;
  overlay.methods = json.value("methods", std::vector<std::string>());
  const Json& entries = json.at("entries");
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Location at = location_of(i);
    overlay.entries.push_back(read_entry(entries[i], at, line_at(at)));
  }
  return overlay;
}

Overlay at_version(const Overlay& overlay, const std::string& version) {
  Overlay at = overlay;
  std::erase_if(at.entries, [&](const OverlayEntry& entry) { return !is_about(entry, version); });
  for (OverlayEntry& entry : at.entries) {
    const bool is_known = version.empty() || compare_versions(version, entry.default_since) >= 0;
    if (entry.default_since.empty() || is_known) continue;
    entry.default_value.reset();
    entry.default_is_unknown = true;
  }
  return at;
}

void refuse_idle_entries(const Overlay& overlay, const std::vector<std::string>& known) {
  const bool is_one =
      std::all_of(known.begin(), known.end(), [&](const std::string& version) { return version == known.front(); });
  std::vector<Diagnostic> complaints;
  for (const OverlayEntry& entry : overlay.entries) {
    const bool is_past = is_one && !entry.until.empty() && compare_versions(entry.until, known.front()) < 0 &&
                         compare_versions(entry.since, entry.until) <= 0;
    const auto about = [&](const std::string& version) { return is_about(entry, version); };
    if (is_past || std::any_of(known.begin(), known.end(), about)) continue;
    complaints.push_back({entry.at, "this entry for " + entry.path + " is about no version that is known here", "",
                          "correct its \"since\" and \"until\", or remove it"});
  }
  if (!complaints.empty()) throw Refusal(std::move(complaints));
}

}  // namespace bindgen
