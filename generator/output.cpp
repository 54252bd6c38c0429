#include "output.hpp"

#include "diagnostics.hpp"
#include "json.hpp"
#include "line_diff.hpp"
#include "text_file.hpp"

#include <algorithm>

namespace bindgen {
namespace {

namespace fs = std::filesystem;

// What an earlier run has written of itself; an empty object if none has.
Json read_manifest(const fs::path& folder) {
  if (!fs::exists(folder / kManifestName)) return Json::object();
  Json manifest = Json::parse(read_text(folder / kManifestName), nullptr, false);
  return manifest.is_object() ? manifest : Json::object();
}

// Files that an earlier run has written and that are not generated any more.
std::vector<std::string> leftovers(const fs::path& folder, const std::vector<File>& files) {
  std::vector<std::string> found;
  const Json manifest = read_manifest(folder);
  for (const Json& path : manifest.value("files", Json::array())) {
    const auto is_it = [&](const File& file) { return path == file.path; };
    if (std::none_of(files.begin(), files.end(), is_it) && fs::exists(folder / path.get<std::string>())) {
      found.push_back(path);
    }
  }
  return found;
}

}  // namespace

std::vector<std::string> write(const fs::path& folder, const std::vector<File>& files) {
  std::vector<std::string> changed;
  for (const std::string& path : leftovers(folder, files)) {  // before the manifest that names them is overwritten
    fs::remove(folder / path);
    changed.push_back(path);
  }
  for (const File& file : files) {
    if (write_text(folder / file.path, file.text)) changed.push_back(file.path);
  }
  return changed;
}

std::string differences(const fs::path& folder, const std::vector<File>& files) {
  std::string text;
  for (const File& file : files) {
    const fs::path path = folder / file.path;
    if (!fs::exists(path)) {
      text += "+++ " + path.string() + ": would be generated, is missing\n";
      continue;
    }
    const std::string present = read_text(path);
    if (present == file.text) continue;
    text += "--- " + path.string() + "\n" + line_diff(present, file.text);
  }
  for (const std::string& path : leftovers(folder, files)) {
    text += "--- " + (folder / path).string() + ": is not generated any more\n";
  }
  return text;
}

void refuse_other_sets(const fs::path& folder, const std::string& version) {
  std::string others;
  for (const Json& set : read_manifest(folder).value("sets", Json::array())) {
    const std::string other = set.value("version", version);
    if (other != version) others += (others.empty() ? "" : ", ") + other;
  }
  if (others.empty()) return;
  throw Refusal({(folder / kManifestName).string(), 0, 0}, "generating " + version + " alone would remove " + others,
                "", "add " + version + " to the sets of generator/bindgen.json, or give --out another folder");
}

}  // namespace bindgen
