#include "project.hpp"

#include "bindgen_json.hpp"
#include "diagnostics.hpp"
#include "files.hpp"
#include "overlay/schema_check.hpp"
#include "read/clean_text.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace bindgen {
namespace {

constexpr const char* kSchema = R"({
  "type": "object",
  "required": ["overlay", "out", "sets"],
  "additionalProperties": false,
  "properties": {
    "about": { "type": "string" },
    "overlay": { "type": "string", "minLength": 1 },
    "out": { "type": "string", "minLength": 1 },
    "sets": {
      "type": "array",
      "minItems": 1,
      "items": {
        "type": "object",
        "required": ["version", "header"],
        "additionalProperties": false,
        "properties": {
          "version": { "$ref": "#/$defs/version" },
          "header": { "type": "string", "minLength": 1 },
          "stands_for": { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/version" } }
        }
      }
    }
  },
  "$defs": { "version": { "type": "string", "pattern": "^[0-9][0-9A-Za-z.-]*$" } }
})";

Json parsed(const std::string& path) {
  const std::string text = read_text(path);
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
    const auto line = static_cast<unsigned>(std::count(text.begin(), end, '\n') + 1);
    throw Refusal({path, line, 1}, "this is no JSON: " + clean(error.what()));
  } catch (const Json::out_of_range& error) {
    throw Refusal({path, 0, 0}, std::string("this cannot be read: ") + error.what());
  }
}

// Versions whose code would stand in one folder, or that two sets claim.
void refuse_twins(const std::string& path, const Project& project) {
  std::map<std::string, std::string> by_folder;
  std::map<std::string, std::string> claimed;
  for (const Project::Set& set : project.sets) {
    std::string folder = set.version;
    std::replace_if(
        folder.begin(), folder.end(), [](char c) { return c == '.' || c == '-'; }, '_');
    const auto [first, is_new] = by_folder.emplace(folder, set.version);
    if (!is_new)
      throw Refusal({path, 0, 0}, "the sets " + first->second + " and " + set.version + " would be generated into one");
    for (const std::string& version : set.stands_for.empty() ? std::vector{set.version} : set.stands_for) {
      const auto [other, is_unclaimed] = claimed.emplace(version, set.version);
      if (!is_unclaimed)
        throw Refusal({path, 0, 0}, version + " is claimed by the sets " + other->second + " and " + set.version);
    }
  }
}

}  // namespace

Project read_project(const std::string& path) {
  const Json json = parsed(path);
  std::vector<Diagnostic> complaints;
  for (const auto& [pointer, message] : violations(Json::parse(kSchema), json)) {
    complaints.push_back({{path, 0, 0}, (pointer.empty() ? "" : pointer + ": ") + message, "", "", Severity::kError});
  }
  if (!complaints.empty()) throw Refusal(std::move(complaints));
  Project project{json.at("overlay"), json.at("out"), {}};
  for (const Json& set : json.at("sets")) {
    project.sets.push_back({set.at("version"), set.at("header"), set.value("stands_for", std::vector<std::string>())});
  }
  refuse_twins(path, project);
  return project;
}

}  // namespace bindgen
