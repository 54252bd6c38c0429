#include "models/model_files.hpp"

#include "jsonrpc/bounded_json.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace rkllm_mcp {
namespace {

namespace fs = std::filesystem;

constexpr int kLevels = 3;
constexpr std::size_t kMostEntries = 10'000;           // that are looked at
constexpr std::int64_t kLongestSimulated = 64 * 1024;  // bytes of a simulator's model
constexpr const char* kMark = "rkllm_simulated_model";
constexpr const char* kSimulatedEnding = ".json";

std::string usual_model_folder() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
  };
  if (const std::string state = variable("STATE_DIRECTORY"); state.starts_with('/')) {
    return state.substr(0, state.find(':')) + "/models";
  }
  if (const std::string data = variable("XDG_DATA_HOME"); data.starts_with('/')) return data + "/rkllm-mcp/models";
  if (const std::string home = variable("HOME"); !home.empty()) return home + "/.local/share/rkllm-mcp/models";
  return {};
}

// The JSON of a simulated model's file; an empty object if the file is no such model.
Json simulated_model(const fs::path& path) {
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  if (error || bytes > static_cast<std::uintmax_t>(kLongestSimulated)) return Json::object();
  std::ifstream file(path);
  Json content = parse_bounded(std::string(std::istreambuf_iterator<char>(file), {})).value_or(nullptr);
  return content.is_object() && content.contains(kMark) ? content : Json::object();
}

class Search {
 public:
  explicit Search(SimulatedModels simulated) : simulated_(simulated) {}

  void look_into(const fs::path& folder, int levels) {
    found_.folders.push_back(folder.string());
    std::vector<fs::path> entries;
    std::error_code unreadable;
    for (fs::directory_iterator each(folder, unreadable), end; !unreadable && each != end; each.increment(unreadable)) {
      if (++looked_at_ > kMostEntries) return;
      entries.push_back(each->path());
    }
    std::sort(entries.begin(), entries.end());
    for (const fs::path& entry : entries) {
      std::error_code error;
      if (fs::is_directory(entry, error)) {
        if (levels > 1 && !fs::is_symlink(entry, error)) look_into(entry, levels - 1);
      } else if (is_model(entry)) {
        take(entry);
      }
    }
  }

  FoundModels found() && { return std::move(found_); }

 private:
  bool is_model(const fs::path& path) const {
    if (path.extension() == ".rkllm") return true;
    return simulated_ == SimulatedModels::kFound && path.extension() == kSimulatedEnding &&
           !simulated_model(path).empty();
  }

  void take(const fs::path& path) {
    auto file = look_at_model(path.string());
    if (!file) return;
    if (!names_.insert(file->name).second) {
      found_.hidden.push_back(std::move(file->path));
      return;
    }
    found_.files.push_back(std::move(*file));
  }

  const SimulatedModels simulated_;
  FoundModels found_;
  std::set<std::string> names_;
  std::size_t looked_at_ = 0;
};

}  // namespace

std::vector<std::string> model_folders(const std::vector<std::string>& model_dirs) {
  if (!model_dirs.empty()) return model_dirs;
  std::string usual = usual_model_folder();
  if (usual.empty()) return {};
  return {std::move(usual)};
}

FoundModels find_models(const std::vector<std::string>& folders, SimulatedModels simulated) {
  Search search(simulated);
  for (const std::string& folder : folders) search.look_into(folder, kLevels);
  return std::move(search).found();
}

std::vector<std::string> known_models(const Json& presets, const std::vector<std::string>& folders) {
  std::set<std::string> models;
  for (const auto& [name, model] : presets.items()) {
    models.insert(name);
    const Json param = model.value("param", Json::object());
    if (param.contains("model_path") && param["model_path"].is_string())
      models.insert(param["model_path"].get<std::string>());
  }
  FoundModels found = find_models(folders, SimulatedModels::kLeftOut);
  for (ModelFile& file : found.files) models.insert(std::move(file.path));
  for (std::string& path : found.hidden) models.insert(std::move(path));
  return {models.begin(), models.end()};
}

std::string simulated_template(const std::string& path) {
  if (fs::path(path).extension() != kSimulatedEnding) return {};
  const Json model = simulated_model(path);
  if (model.empty() || model.value("chat_template", Json()) != "chatml") return {};
  return model.value("thinking", Json()) == true ? "qwen3" : "chatml";
}

std::optional<ModelFile> look_at_model(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return ModelFile{fs::path(path).stem().string(), path, static_cast<std::int64_t>(status.st_size),
                   static_cast<std::int64_t>(status.st_mtime), simulated_template(path)};
}

}  // namespace rkllm_mcp
