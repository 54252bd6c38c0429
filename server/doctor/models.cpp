// The model files: for this chip, of a version that the runtime reads, small enough for the memory.
//
// A model file does not say in a documented way what it was made for: what is told here of chip and version is told by
// its name, as the tools of Rockchip and the hub's authors spell it ("Qwen3-1.7B-rk3588-w8a8_1.2.1.rkllm").
#include "backend/file_rules.hpp"
#include "doctor/doctor.hpp"
#include "models/model_files.hpp"
#include "pull/model_file_name.hpp"
#include "text/shown.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>
#include <optional>
#include <set>
#include <system_error>

namespace rkllm_mcp::doctor {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModels = "models";

// MemTotal, MemAvailable: bytes; nothing if it cannot be read.
std::optional<std::int64_t> memory_of(const Machine& machine, std::string_view key) {
  const std::string text = text_of(machine, "proc/meminfo");
  const auto at = text.find(std::string(key) + ":");
  if (at == std::string::npos) return std::nullopt;
  const auto digits = text.find_first_of("0123456789", at);
  std::int64_t kilobytes = 0;
  if (digits == std::string::npos) return std::nullopt;
  std::from_chars(text.data() + digits, text.data() + text.size(), kilobytes);
  return kilobytes * 1024;
}

// `runtime`: its version; empty: there is none.
void examine_model(const Machine& machine, const std::string& runtime, const fs::path& path, Findings& findings) {
  std::error_code error;
  const auto bytes = static_cast<std::int64_t>(fs::file_size(path, error));
  if (error) {
    const bool is_closed = error == std::errc::permission_denied;
    findings.push_back({kModels, Level::kProblem, path.string() + ": " + error.message(),
                        is_closed ? "sudo chmod a+rX " + shell_word(path.parent_path().string()) + " " +
                                        shell_word(path.string()) + "   # and the folders around them"
                                  : "rkllm-mcp pull hf.co/OWNER/NAME   # or name a file that rkllm-mcp models shows"});
    return;
  }
  if (bytes == 0) {
    findings.push_back({kModels, Level::kProblem, path.string() + " is empty: a copy of it has broken off",
                        "rm " + shell_word(path.string()) + "   # and copy it, or rkllm-mcp pull it, again"});
    return;
  }
  const std::string platform = platform_of(machine);
  const auto chip = chip_in_name(path.filename().string());
  if (chip && !platform.empty() && *chip != platform) {
    findings.push_back({kModels, Level::kProblem,
                        path.string() + " is, by its name, for " + *chip + "; this board is " + platform,
                        "rkllm-mcp pull hf.co/OWNER/NAME   # takes the file that is for " + platform});
    return;
  }
  const auto total = memory_of(machine, "MemTotal");
  const auto available = memory_of(machine, "MemAvailable");
  if (total && bytes > *total) {
    findings.push_back(
        {kModels, Level::kProblem,
         path.string() + " has " + shown_bytes(bytes) + ", more than this machine's memory of " + shown_bytes(*total),
         "rkllm-mcp pull hf.co/OWNER/NAME   # of a smaller model; rkllm-mcp models shows what is here"});
    return;
  }
  const auto runs_with = release_at_start(runtime);
  const auto made_with = release_in(path.filename().string());
  if (made_with && runs_with && *made_with > *runs_with) {
    findings.push_back({kModels, Level::kWarning,
                        path.string() + " was, by its name, made with version " + shown_release(*made_with) +
                            " of the toolkit; the runtime " + runtime + " is older, and may refuse it",
                        fetch_library(machine) + "   # the newest one; then restart the server"});
    return;
  }
  if (available && bytes > *available) {
    findings.push_back(
        {kModels, Level::kWarning,
         path.string() + " has " + shown_bytes(bytes) + "; of the memory only " + shown_bytes(*available) + " are free",
         "rkllm-mcp unload NAME   # of a model that rkllm-mcp ps shows"});
    return;
  }
  findings.push_back({kModels, Level::kOk,
                      path.string() + ", " + shown_bytes(bytes) + ", for " + chip.value_or("an unknown platform") +
                          ", " +
                          (made_with ? "made with toolkit " + shown_release(*made_with) + " by its name"
                                     : "made with an unknown version of the toolkit")});
}

// Adds the preset's file to `files`, which are examined later; if the server would not find it, adds a finding.
void examine_preset(const FileRules& rules, const std::string& name, const std::string& path, std::set<fs::path>& files,
                    Findings& findings) {
  constexpr const char* kPullOrName = "rkllm-mcp pull hf.co/OWNER/NAME   # or name a file that rkllm-mcp models shows";
  const std::string of = "models." + name + ": " + path;
  std::error_code error;
  if (path.empty()) {
    findings.push_back({kModels, Level::kProblem, "models." + name + " names no file: its model_path is empty",
                        "rkllm-mcp models   # then set models." + name + ".param.model_path to one of those"});
    return;
  }
  if (fs::path(path).is_absolute() && !fs::exists(path, error) && error != std::errc::permission_denied) {
    findings.push_back({kModels, Level::kProblem, of + " is not there", kPullOrName});
    return;
  }
  try {
    const fs::path file = rules.path_for(path, FileUse::kRead);
    if (fs::path(path).is_relative() && !fs::exists(file, error)) {
      findings.push_back({kModels, Level::kProblem, of + " is in none of the folders of models", kPullOrName});
      return;
    }
    const auto is_it = [&file](const fs::path& each) {
      std::error_code unreadable;
      return each == file || fs::equivalent(each, file, unreadable);
    };
    if (std::ranges::none_of(files, is_it)) files.insert(file);
  } catch (const std::exception& refused) {
    findings.push_back({kModels, Level::kProblem, of + ": " + refused.what(),
                        "mv " + shell_word(path) + " FOLDER   # one of runtime.model_dirs; or add its own to those"});
  }
}

}  // namespace

Findings examine_models(const Machine& machine) {
  Findings findings;
  const RuntimeSettings& settings = machine.settings.runtime;
  for (const std::string& folder : settings.model_dirs) {
    std::error_code error;
    if (fs::is_directory(folder, error)) continue;
    findings.push_back({kModels, Level::kProblem, folder + " (runtime.model_dirs) is no folder that can be read",
                        "mkdir -p " + shell_word(folder)});
  }
  const auto folders = model_folders(settings.model_dirs);
  const std::string runtime = runtime_version_of(machine);
  const FoundModels found = find_models(folders, SimulatedModels::kLeftOut);
  std::set<fs::path> files;
  for (const ModelFile& file : found.files) files.insert(file.path);
  files.insert(found.hidden.begin(), found.hidden.end());
  const FileRules rules({settings.model_dirs, settings.cache_dir, settings.cache_bytes});
  for (const auto& [name, model] : machine.settings.models.items()) {
    const Json path = model.value("param", Json::object()).value("model_path", Json());
    if (path.is_string()) examine_preset(rules, name, path.get<std::string>(), files, findings);
  }
  for (const fs::path& file : files) examine_model(machine, runtime, file, findings);
  if (findings.empty()) {
    std::string places;
    for (const std::string& folder : folders) places += (places.empty() ? "" : ", ") + folder;
    findings.push_back(
        {kModels, Level::kWarning,
         places.empty() ? "runtime.model_dirs is empty, and there is no home directory: models are found by their full "
                          "path only"
                        : "no model files in " + places,
         "rkllm-mcp pull hf.co/OWNER/NAME   # into the first of them; runtime.model_dirs names others"});
  }
  return findings;
}

}  // namespace rkllm_mcp::doctor
