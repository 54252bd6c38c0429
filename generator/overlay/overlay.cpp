#include "overlay/overlay.hpp"

#include "bindgen_json.hpp"
#include "diagnostics.hpp"
#include "files.hpp"
#include "hex_sha256.hpp"
#include "interface_version.hpp"
#include "overlay/overlay_entry.hpp"
#include "overlay/schema_check.hpp"
#include "read/clean_text.hpp"

#include <algorithm>
#include <utility>

namespace bindgen {
namespace {

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
