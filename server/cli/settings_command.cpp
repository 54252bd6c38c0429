#include "cli/settings_command.hpp"

#include "cli/exit_codes.hpp"
#include "settings/schema.hpp"
#include "settings/table.hpp"

#include <algorithm>
#include <iostream>
#include <stdexcept>

namespace rkllm_mcp {
namespace {

void print_text(const LoadedSettings& settings) {
  if (!settings.file.empty()) std::cout << "settings file: " << settings.file << "\n";
  const auto table = settings_table();
  std::size_t width = 0;
  for (const Setting& setting : table) width = std::max(width, name_of(setting).size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    std::string name = name_of(table[i]);
    name.resize(width, ' ');
    std::cout << name << "  " << shown_value(table[i], settings.values).dump() << "  (" << settings.origins[i].place
              << ")\n";
  }
}

int show(const SettingsOptions& options, const SettingsRequest& request) {
  const LoadedSettings settings = load_settings(request);
  for (const auto& warning : settings.warnings) std::cerr << "warning: " << warning << "\n";
  switch (options.output) {
    case SettingsOptions::Output::kText: print_text(settings); break;
    case SettingsOptions::Output::kJson: std::cout << settings_report(settings).dump(2) << "\n"; break;
  }
  return kExitOk;
}

std::string path_in_use(const SettingsOptions& options, const SettingsRequest& request) {
  if (!options.file.empty()) return options.file;
  if (auto path = settings_path(request.path, request.environment)) return *path;
  throw std::runtime_error(
      "no place for a settings file: neither XDG_CONFIG_HOME nor HOME is set; use --settings PATH");
}

// Only the file is judged, as it would be without variables and options.
int check(const std::string& path) {
  const LoadedSettings settings = load_settings({path, {}, {}});
  if (settings.file.empty()) throw std::runtime_error(path + ": no such file");
  std::cout << path << ": right\n";
  return kExitOk;
}

int write(const std::string& path) {
  switch (write_default_settings(path)) {
    case Written::kWritten: std::cout << path << ": written\n"; return kExitOk;
    case Written::kExists: std::cerr << path << ": exists, and was left alone\n"; return kExitFailed;
  }
  return kExitFailed;
}

}  // namespace

int run_settings(const SettingsOptions& options, const SettingsRequest& request) {
  using Action = SettingsOptions::Action;
  switch (options.action) {
    case Action::kShow: return show(options, request);
    case Action::kPath: std::cout << path_in_use(options, request) << "\n"; return kExitOk;
    case Action::kSchema: std::cout << settings_schema().dump(2) << "\n"; return kExitOk;
    case Action::kCheck: return check(path_in_use(options, request));
    case Action::kWrite: return write(path_in_use(options, request));
  }
  return kExitUsage;
}

}  // namespace rkllm_mcp
