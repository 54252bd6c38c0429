#include "overlay.hpp"

#include "diagnostics.hpp"
#include "json.hpp"
#include "json_schema.hpp"
#include "overlay_schema.hpp"
#include "sha256.hpp"
#include "text_file.hpp"
#include "version.hpp"

#include <algorithm>
#include <utility>

namespace bindgen {
namespace {

// nlohmann_json keeps no positions; but only entries have a key "for", so the n-th of those begins entry n.
std::vector<Location> entry_locations(const std::string& path, const std::vector<std::string>& lines) {
  std::vector<Location> found;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (auto at = lines[i].find("\"for\":"); at != std::string::npos; at = lines[i].find("\"for\":", at + 1)) {
      found.push_back({path, static_cast<unsigned>(i + 1), static_cast<unsigned>(at + 1)});
    }
  }
  return found;
}

ValueRef reference(const std::string& text) {
  static const std::string kSession = "session.";
  if (text.compare(0, kSession.size(), kSession) == 0) return SessionRef{text.substr(kSession.size())};
  return FieldRef{text};
}

SessionRef session_reference(const Json& json) { return std::get<SessionRef>(reference(json.get<std::string>())); }

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
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  return value.get<std::string>();
}

Meaning read_array(const Json& json) {
  meaning::Array array{CountedBy{},
                       presence(json, Presence::kRequired),
                       optional<std::int64_t>(json, "minimum"),
                       {},
                       json.value("together_with", "")};
  if (json.contains("below")) array.below = session_reference(json.at("below"));
  if (json.contains("exactly")) {
    array.length = Exactly{session_reference(json.at("exactly"))};
  } else if (json.contains("multiple_of")) {
    array.length = MultipleOf{json.at("multiple_of")};
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
         return meaning::Text{presence(json, Presence::kRequired), json.value("min_length", 0U),
                              json.value("json", false), json.value("freed_by", "")};
       }},
      {"object",
       [](const Json& json) -> Meaning {
         return meaning::Object{presence(json, Presence::kRequired), json.value("starts_from", "")};
       }},
      {"batch", [](const Json& json) -> Meaning { return meaning::Batch{session_reference(json.at("count"))}; }},
      {"array", &read_array},
      {"union", &read_union},
      {"cpu_mask", [](const Json& json) -> Meaning { return meaning::CpuMask{json.at("count")}; }},
      {"handle", &read_handle},
      {"out", [](const Json& json) -> Meaning { return meaning::OutArray{session_reference(json.at("count"))}; }},
      {"callbacks", [](const Json&) -> Meaning { return meaning::Callbacks{}; }},
      {"userdata", [](const Json&) -> Meaning { return meaning::StreamUserdata{}; }},
      {"unused", [](const Json&) -> Meaning { return meaning::Unused{}; }},
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

OverlayEntry read_entry(const Json& json, const Location& at, const std::vector<std::string>& lines) {
  OverlayEntry entry{json.at("for"),
                     json.at("quote"),
                     at,
                     {},
                     {},
                     {},
                     constant(json, "default"),
                     constant(json, "wire_default"),
                     json.value("session", ""),
                     json.value("doc", ""),
                     json.value("group", ""),
                     json.value("since", ""),
                     json.value("until", ""),
                     false,
                     json.value("default_since", "")};
  std::string said;  // the key that has been taken
  const auto refuse_second = [&](const std::string& key) {
    if (!said.empty()) {
      throw Refusal(at, "the entry for " + entry.path + " says both \"" + said + "\" and \"" + key + "\"",
                    lines[at.line - 1], "an entry says one thing; choose");
    }
    said = key;
  };
  for (const auto& [key, reader] : meaning_readers()) {
    if (!json.contains(key)) continue;
    refuse_second(key);
    entry.meaning = reader(json.at(key));
  }
  if (json.contains("stream")) {
    refuse_second("stream");
    entry.stream = read_stream(entry.path, json.at("stream"));
  }
  if (json.contains("function")) {
    refuse_second("function");
    entry.function = read_function(json.at("function"), entry.documentation);
  }
  return entry;
}

Json parse_json(const std::string& path, const std::string& text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
    const auto line = static_cast<unsigned>(std::count(text.begin(), end, '\n') + 1);
    throw Refusal({path, line, 1}, "this is no JSON: " + std::string(error.what()));
  }
}

bool is_about(const OverlayEntry& entry, const std::string& version) {
  if (version.empty()) return entry.until.empty();
  return (entry.since.empty() || compare_versions(entry.since, version) <= 0) &&
         (entry.until.empty() || compare_versions(version, entry.until) <= 0);
}

}  // namespace

Overlay read_overlay(const std::string& path) {
  const std::string text = read_text(path);
  const std::vector<std::string> lines = lines_of(text);
  const Json json = parse_json(path, text);
  const std::vector<Location> locations = entry_locations(path, lines);

  std::vector<Diagnostic> complaints;
  for (const auto& [pointer, message] : violations(Json::parse(kOverlaySchema), json)) {
    Location at{path, 0, 0};
    static const std::string kEntries = "/entries/";
    if (pointer.compare(0, kEntries.size(), kEntries) == 0) {
      const std::size_t index = std::stoul(pointer.substr(kEntries.size()));
      if (index < locations.size()) at = locations[index];
    }
    complaints.push_back({at, (pointer.empty() ? "" : pointer + ": ") + message, at.line != 0 ? lines[at.line - 1] : "",
                          "overlay.schema.json says what an overlay may hold"});
  }
  if (!complaints.empty()) throw Refusal(std::move(complaints));

  Overlay overlay{
      path, sha256(text), json.at("output").at("namespace"), json.at("output").at("include"), {}, {}, {}, {}, {}, {}};
  const Json session = json.value("session", Json::object());
  for (const auto& [name, value] : session.items()) {
    overlay.session.push_back({name, value.at("learn")});
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
    overlay.entries.push_back(read_entry(entries[i], locations.at(i), lines));
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

void refuse_idle_entries(const Overlay& overlay, const std::vector<std::string>& versions) {
  std::vector<Diagnostic> complaints;
  for (const OverlayEntry& entry : overlay.entries) {
    const auto about = [&](const std::string& version) { return is_about(entry, version); };
    const auto before = [&](const std::string& version) {
      return !entry.until.empty() && compare_versions(entry.until, version) < 0;
    };
    const auto after = [&](const std::string& version) {
      return !entry.since.empty() && compare_versions(version, entry.since) < 0;
    };
    const bool is_contradiction =
        !entry.since.empty() && !entry.until.empty() && compare_versions(entry.until, entry.since) < 0;
    const bool is_about_others =
        std::all_of(versions.begin(), versions.end(), before) || std::all_of(versions.begin(), versions.end(), after);
    if (std::any_of(versions.begin(), versions.end(), about) || (is_about_others && !is_contradiction)) continue;
    complaints.push_back({entry.at, "this entry for " + entry.path + " is about no version that is generated", "",
                          "correct its \"since\" and \"until\", or remove it"});
  }
  if (!complaints.empty()) throw Refusal(std::move(complaints));
}

}  // namespace bindgen
