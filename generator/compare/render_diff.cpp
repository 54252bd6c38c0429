// A comparison as text, as Markdown and as JSON (diff.hpp).
#include "compare/diff.hpp"

#include "bindgen_json.hpp"
#include "read/clean_text.hpp"
#include "read/declaration.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace bindgen {
namespace {

// What each kind of change means to the reader, the worst first.
enum class Group { kAbi, kApi, kChanged, kAdded, kWords };
struct GroupText {
  Group group;
  const char* key;
  const char* title;
};
constexpr std::array<GroupText, 5> kGroups = {
    {{Group::kAbi, "abi", "Breaks the ABI: a program compiled for the one does not work with the other"},
     {Group::kApi, "api", "Breaks the API: binaries work together, sources may have to change"},
     {Group::kChanged, "changed", "Changes that break nothing"},
     {Group::kAdded, "none", "Additions"},
     {Group::kWords, "documentation", "Said in other words: read what it means now"}}};

// What is deprecated now, or no longer, is nothing new: something that was there has changed.
Group group_of(const Change& change) {
  if (change.kind == ChangeKind::kReworded) return Group::kWords;
  if (change.breaks == Breaks::kAbi) return Group::kAbi;
  if (change.breaks == Breaks::kApi) return Group::kApi;
  return change.kind == ChangeKind::kAdded && change.what != "deprecation" ? Group::kAdded : Group::kChanged;
}

std::string word(Breaks breaks) {
  switch (breaks) {
    case Breaks::kAbi: return "abi";
    case Breaks::kApi: return "api";
    case Breaks::kNone: return "none";
  }
  return {};
}

constexpr const char* kLegend = "Sizes and offsets (@) are in bytes: 64-bit/32-bit.";

std::string word(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kAdded: return "added";
    case ChangeKind::kRemoved: return "removed";
    case ChangeKind::kChanged: return "changed";
    case ChangeKind::kMoved: return "moved";
    case ChangeKind::kResized: return "resized";
    case ChangeKind::kRenamed: return "renamed";
    case ChangeKind::kReworded: return "reworded";
  }
  return {};
}

std::string told_kind(const Change& change) { return word(change.kind) + (change.is_guess ? " (a guess)" : ""); }

// A layout is an offset if it is that of a field, unless it is what was resized.
std::string layout_of(const Change& change, const Side& side) {
  if (!side.layout) return {};
  const bool is_offset = change.what == "field" && change.kind != ChangeKind::kResized;
  std::string layout = (is_offset ? "@" : "size ") + text(*side.layout);
  if (!side.bit) return layout;
  const bool everywhere = side.bit->on_64_bit == side.bit->on_32_bit;
  return layout + " bit " + (everywhere ? std::to_string(side.bit->on_64_bit) : text(*side.bit));
}

std::string side_text(const Change& change, const Side& side) {
  const std::string layout = layout_of(change, side);
  return side.declaration + (side.declaration.empty() || layout.empty() ? "" : ", ") + layout;
}

std::vector<Change> of_group(const std::vector<Change>& changes, Group group) {
  std::vector<Change> members;
  std::copy_if(changes.begin(), changes.end(), std::back_inserter(members),
               [&](const Change& change) { return group_of(change) == group; });
  return members;
}

// What Markdown shows as it is: between more backticks than the text has side by side, on one line.
std::string code_span(const std::string& text) {
  std::size_t longest = 0;
  std::size_t run = 0;
  std::string line;
  for (const char character : text) {
    run = character == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
    line += character == '\n' || character == '\r' ? ' ' : character;
  }
  const auto stands_out = [&](char character) { return line.front() == character || line.back() == character; };
  if (!line.empty() && (stands_out('`') || stands_out(' '))) line = " " + line + " ";  // Markdown takes these away
  const std::string fence(longest + 1, '`');
  return fence + line + fence;
}

// The same in a table, which is cut at each '|' before anything else is read.
std::string cell(const std::string& text) {
  if (text.empty()) return "";
  std::string escaped;
  for (const char character : code_span(text)) escaped += character == '|' ? "\\|" : std::string(1, character);
  return escaped;
}

Json side_json(const Change& change, const Side& side) {
  Json json = Json::object();
  if (!side.declaration.empty()) json["declaration"] = side.declaration;
  if (side.layout) {
    const bool is_offset = layout_of(change, side).front() == '@';
    json[is_offset ? "offset" : "size"] = {{"64", side.layout->on_64_bit}, {"32", side.layout->on_32_bit}};
  }
  if (side.bit) json["bit"] = {{"64", side.bit->on_64_bit}, {"32", side.bit->on_32_bit}};
  return json;
}

}  // namespace

std::string line_of(const Change& change) {
  std::string line = told_kind(change) + " " + change.what + " " + change.name + ":";
  const bool is_of_words = change.kind == ChangeKind::kReworded;
  if (is_of_words) {  // texts, each on a line of its own
    const auto said = [](const std::optional<Side>& side) { return side ? side->declaration : "(nothing)"; };
    return line + "\n    - " + said(change.before) + "\n    + " + said(change.after);
  }
  if (change.before) line += " " + side_text(change, *change.before);
  if (change.before && change.after) line += " ->";
  if (change.after) line += " " + side_text(change, *change.after);
  return line;
}

std::string diff_as_text(const std::vector<Change>& changes, const std::string& before, const std::string& after) {
  std::string text = before + " -> " + after + "\n";
  if (changes.empty()) return text + "\nNo difference.\n";
  for (const GroupText& group : kGroups) {
    const auto members = of_group(changes, group.group);
    if (members.empty()) continue;
    text += "\n" + std::string(group.title) + " (" + std::to_string(members.size()) + ")\n";
    for (const Change& change : members) text += "  " + line_of(change) + "\n";
  }
  return text + "\n" + kLegend + "\n";
}

std::string diff_as_markdown(const std::vector<Change>& changes, const std::string& before, const std::string& after) {
  std::string text = "# " + code_span(clean(before)) + " → " + code_span(clean(after)) + "\n";
  if (changes.empty()) return text + "\nNo difference.\n";
  text += "\n" + std::string(kLegend) + "\n";
  for (const GroupText& group : kGroups) {
    const auto members = of_group(changes, group.group);
    if (members.empty()) continue;
    text += "\n## " + std::string(group.title) + " (" + std::to_string(members.size()) + ")\n\n";
    text += "| change | what | name | before | after |\n|---|---|---|---|---|\n";
    for (const Change& change : members) {
      text += "| " + told_kind(change) + " | " + change.what + " | " + cell(change.name) + " | " +
              cell(change.before ? side_text(change, *change.before) : "") + " | " +
              cell(change.after ? side_text(change, *change.after) : "") + " |\n";
    }
  }
  return text;
}

std::string diff_as_json(const std::vector<Change>& changes, const std::string& before, const std::string& after) {
  Json list = Json::array();
  Json counts = Json::object();
  for (const GroupText& group : kGroups) counts[group.key] = of_group(changes, group.group).size();
  for (const Change& change : changes) {
    Json entry{
        {"change", word(change.kind)}, {"what", change.what}, {"name", change.name}, {"breaks", word(change.breaks)}};
    if (change.is_guess) entry["guess"] = true;
    if (change.before) entry["before"] = side_json(change, *change.before);
    if (change.after) entry["after"] = side_json(change, *change.after);
    if (change.kind == ChangeKind::kReworded) {
      for (const char* side : {"before", "after"}) {
        if (entry.contains(side)) entry[side] = entry[side]["declaration"];
      }
    }
    entry["line"] = change.at.line;
    list.push_back(std::move(entry));
  }
  return Json{{"before", clean(before)},
              {"after", clean(after)},
              {"counts", std::move(counts)},
              {"changes", std::move(list)}}
             .dump(2) +
         "\n";
}

}  // namespace bindgen
