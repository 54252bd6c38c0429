// The model files: for this chip, of a version that the runtime reads, small enough for the memory.
//
// A model file does not say in a documented way what it was made for: what is told here of chip and version is told by
// its name, as the tools of Rockchip and the hub's authors spell it ("Qwen3-1.7B-rk3588-w8a8_1.2.1.rkllm").
#include "doctor/doctor.hpp"
#include "models/model_files.hpp"
#include "pull/model_chip.hpp"
#include "text/shell_word.hpp"
#include "text/shown_bytes.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

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

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// `runtime`: its version; empty: there is none.
void examine_model(const Machine& machine, const std::string& runtime, const fs::path& path, Findings& findings) {
  std::error_code error;
  const auto bytes = static_cast<std::int64_t>(fs::file_size(path, error));
  if (error) {
    findings.push_back(
        {kModels, Level::kProblem, path.string() + ": " + error.message(), "ls -l " + shell_word(path.string())});
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
                        "rkllm-mcp models   # choose a file whose name has " + platform});
    return;
  }
  const auto total = memory_of(machine, "MemTotal");
  const auto available = memory_of(machine, "MemAvailable");
  if (total && bytes > *total) {
    findings.push_back(
        {kModels, Level::kProblem,
         path.string() + " has " + shown_bytes(bytes) + ", more than this machine's memory of " + shown_bytes(*total),
         "rkllm-mcp models   # choose a smaller one"});
    return;
  }
  const auto runs_with = release_at_start(runtime);
  const auto made_with = release_in(path.filename().string());
  if (made_with && runs_with && *made_with > *runs_with) {
    findings.push_back(
        {kModels, Level::kWarning,
         path.string() + " was, by its name, made with version " + shown_release(*made_with) +
             " of the toolkit; the runtime " + runtime + " is older, and may refuse it",
         "rkllm-mcp --version   # shows the runtime; take that of the toolkit's version, or a later one"});
    return;
  }
  if (available && bytes > *available) {
    findings.push_back(
        {kModels, Level::kWarning,
         path.string() + " has " + shown_bytes(bytes) + "; of the memory only " + shown_bytes(*available) + " are free",
         "rkllm-mcp ps   # what is loaded; rkllm-mcp unload NAME frees it"});
    return;
  }
  findings.push_back({kModels, Level::kOk,
                      path.string() + ", " + shown_bytes(bytes) + ", for " + chip.value_or("an unknown platform") +
                          ", " +
                          (made_with ? "made with toolkit " + shown_release(*made_with) + " by its name"
                                     : "made with an unknown version of the toolkit")});
}

}  // namespace

Findings examine_models(const Machine& machine) {
  Findings findings;
  for (const std::string& folder : machine.settings.runtime.model_dirs) {
    std::error_code error;
    if (fs::is_directory(folder, error)) continue;
    findings.push_back({kModels, Level::kProblem, folder + " (runtime.model_dirs) is no folder that can be read",
                        "mkdir -p " + shell_word(folder)});
  }
  const auto folders = model_folders(machine.settings.runtime.model_dirs);
  const std::string runtime = runtime_version_of(machine);
  for (const std::string& model : known_models(machine.settings.models, folders)) {
    const bool is_path = model.find('/') != std::string::npos;
    if (model.starts_with('/') || (is_path && is_there(model))) examine_model(machine, runtime, model, findings);
  }
  for (const auto& [name, model] : machine.settings.models.items()) {
    const Json path = model.value("param", Json::object()).value("model_path", Json());
    if (!path.is_string() || path.get_ref<const std::string&>().starts_with('/')) continue;
    const std::string relative = path.get<std::string>();
    if (std::ranges::any_of(folders, [&](const std::string& each) { return is_there(fs::path(each) / relative); }))
      continue;
    findings.push_back({kModels, Level::kProblem,
                        "models." + name + ": " + relative + " is in none of the folders of models",
                        "rkllm-mcp models   # what there is; rkllm-mcp pull hf.co/OWNER/NAME fetches one"});
  }
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
