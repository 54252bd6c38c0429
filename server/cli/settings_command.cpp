#include "cli/run_command.hpp"

#include "cli/help/terminal.hpp"
#include "settings/refused.hpp"
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
    std::cout << name << "  " << shown_value(table[i], settings.values).dump() << "  (" << settings.sources[i].place
              << ")\n";
  }
}

int show(const SettingsOptions& options, const SettingsRequest& request) {
  const LoadedSettings settings = load_settings(request);
  for (const auto& warning : settings.warnings) std::cerr << "warning: " << warning << "\n";
  switch (options.output) {
    case SettingsOptions::Output::kText: print_text(settings); break;
    case SettingsOptions::Output::kJson: print_json(settings_report(settings)); break;
  }
  return kExitOk;
}

std::string path_in_use(const SettingsOptions& options, const SettingsRequest& request) {
  if (!options.file.empty()) return options.file;
  if (auto path = settings_path(request.path, request.environment)) return *path;
  throw std::runtime_error(
      "no place for a settings file: neither XDG_CONFIG_HOME nor HOME is set; use --settings PATH");
}

// As text what people read, as JSON an object.
void print_path(const SettingsOptions& options, const std::string& path, const std::string& words, const Json& facts) {
  switch (options.output) {
    case SettingsOptions::Output::kText: std::cout << path << words << "\n"; break;
    case SettingsOptions::Output::kJson: {
      Json report{{"path", path}};
      report.update(facts);
      print_json(report);
      break;
    }
  }
}

// Only the file is judged, as it would be without variables and options.
int check(const SettingsOptions& options, const std::string& path, const SettingsRequest& request) {
  try {
    const LoadedSettings settings = load_settings({path, {}, {}, request.check_presets});
    if (settings.file.empty()) throw std::runtime_error(path + ": no such file");
    if (!settings.warnings.empty()) throw SettingsRefused(settings.warnings);
    print_path(options, path, ": right", {{"right", true}, {"problems", Json::array()}});
    return kExitOk;
  } catch (const SettingsRefused& refused) {
    if (options.output == SettingsOptions::Output::kText) throw;
    print_path(options, path, "", {{"right", false}, {"problems", refused.lines()}});
    return kExitSettingsRefused;
  }
}

int write(const SettingsOptions& options, const std::string& path) {
  switch (write_default_settings(path)) {
    case Written::kWritten: print_path(options, path, ": written", {{"written", true}}); return kExitOk;
    case Written::kExists: break;
  }
  if (options.output == SettingsOptions::Output::kJson) print_path(options, path, "", {{"written", false}});
  std::cerr << "rkllm-mcp: " << path
            << " exists, and was left alone; name another file: rkllm-mcp settings write FILE\n";
  return kExitFailed;
}

}  // namespace

int run_settings(const SettingsOptions& options, const SettingsRequest& request) {
  using Action = SettingsOptions::Action;
  switch (options.action) {
    case Action::kShow: return show(options, request);
    case Action::kPath: print_path(options, path_in_use(options, request), "", Json::object()); return kExitOk;
    case Action::kSchema: print_json(settings_schema()); return kExitOk;
    case Action::kCheck: return check(options, path_in_use(options, request), request);
    case Action::kWrite: return write(options, path_in_use(options, request));
  }
  return kExitUsage;
}

}  // namespace rkllm_mcp
