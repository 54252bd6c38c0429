#include "settings/load.hpp"

#include "settings/document.hpp"
#include "settings/refused.hpp"
#include "settings/setting.hpp"
#include "settings/table.hpp"
#include "text/ip_address.hpp"
#include "text/regular_file.hpp"

#include <rkllm_mcp/nearest_name.hpp>

#include <cstddef>
#include <filesystem>
#include <stdexcept>

namespace rkllm_mcp {
namespace {

constexpr std::string_view kPrefix = "RKLLM_MCP_";
constexpr std::string_view kFileVariable = "RKLLM_MCP_SETTINGS";
constexpr std::string_view kTokenVariable = "RKLLM_MCP_TOKEN";  // of rkllm-mcp call

// Collects values and complaints from one source after the other.
class Loader {
 public:
  Loader() { loaded_.sources.resize(settings_table().size()); }

  void check_built_in() {
    Settings copy;  // values set when this program was built have not been checked by anyone yet
    for (const Setting& setting : settings_table()) {
      complain("built-in", assign(setting, value_of(setting, loaded_.values), copy));
    }
  }

  void read_file(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return;
    if (std::filesystem::is_directory(path, error)) throw SettingsRefused({path + ": is a directory"});
    constexpr std::size_t kLargestFile = std::size_t{1} << 20U;
    std::string text;
    try {
      text = read_regular_file(path, kLargestFile);
    } catch (const std::runtime_error& unreadable) {
      throw SettingsRefused({unreadable.what()});
    }
    loaded_.file = path;
    read_document(Document(path, text));
  }

  void read_environment(const Environment& environment) {
    for (const auto& [name, text] : environment) {
      if (!name.starts_with(kPrefix) || name == kFileVariable || name == kTokenVariable) continue;
      const Setting* setting = setting_of_variable(name);
      if (setting != nullptr) {
        take(*setting, {Source::kEnvironment, name}, assign_text(*setting, text, loaded_.values));
      } else {
        // Only a warning: the variable may be meant for another program.
        loaded_.warnings.push_back(name + ": no such setting; the nearest is " + nearest_variable(name));
      }
    }
  }

  void read_command_line(const std::vector<Assignment>& assignments) {
    for (const auto& [name, text, place] : assignments) {
      const Setting* setting = find_setting(name);
      if (setting == nullptr) {
        complain(place, {unknown(name)});
      } else {
        take(*setting, {Source::kCommandLine, place}, assign_text(*setting, text, loaded_.values));
      }
    }
  }

  void check_addresses() {
    const Settings& values = loaded_.values;
    if (values.auth.insecure || !values.auth.tokens.empty()) return;
    if (values.tcp.enabled) check_address("tcp.address", values.tcp.address);
    if (values.udp.enabled) check_address("udp.address", values.udp.address);
    if (values.http.enabled) check_address("http.address", values.http.address);
    if (values.ws.enabled) check_address("ws.address", values.ws.address);
    if (values.services.enabled) check_address("services.address", values.services.address);
  }

  void check_tls() {
    const Settings& values = loaded_.values;
    if (values.tcp.enabled && values.tcp.tls) check_tls("tcp.tls");
    if ((values.http.enabled || values.services.enabled) && values.http.tls) check_tls("http.tls");
    if (values.ws.enabled && values.ws.tls) check_tls("ws.tls");
  }

  void check_presets(const SettingsRequest& request) {
    if (!request.check_presets) return;
    // Only warnings: the other presets can be served.
    for (const Complaint& complaint : request.check_presets(loaded_.values.models)) {
      loaded_.warnings.push_back(source_of(*find_setting("models")).place + ": " + complaint.path + ": " +
                                 complaint.text);
    }
  }

  LoadedSettings finish() {
    if (!lines_.empty()) throw SettingsRefused(std::move(lines_));
    return std::move(loaded_);
  }

 private:
  void read_document(const Document& document) {
    for (const auto& [section, content] : document.value().items()) {
      if (section == "$schema") continue;
      const Setting* whole = find_setting(section);
      if (documentation_of_section(section).empty() || section.find('.') != std::string::npos) {
        complain(document.place_of_key("", section), {unknown(section)});
      } else if (whole != nullptr) {
        take(document, *whole, content);
      } else if (!content.is_object()) {
        complain(document, {section, "expected an object, found " + content.dump()});
      } else {
        read_section(document, section, content);
      }
    }
  }

  void read_section(const Document& document, const std::string& section, const Json& content) {
    for (const auto& [key, value] : content.items()) {
      const std::string name = section + "." + key;
      const Setting* setting = find_setting(name);
      if (setting != nullptr) {
        take(document, *setting, value);
      } else if (documentation_of_section(name).empty()) {
        complain(document.place_of_key(section, key), {unknown(name)});
      } else if (!value.is_object()) {
        complain(document, {name, "expected an object, found " + value.dump()});
      } else {
        read_section(document, name, value);
      }
    }
  }

  void take(const Document& document, const Setting& setting, const Json& value) {
    const auto complaints = assign(setting, value, loaded_.values);
    for (const auto& complaint : complaints) complain(document, complaint);
    if (complaints.empty()) source_of(setting) = {Source::kFile, document.place_of(name_of(setting))};
  }

  void take(const Setting& setting, ValueSource source, const std::vector<Complaint>& complaints) {
    complain(source.place, complaints);
    if (complaints.empty()) source_of(setting) = std::move(source);
  }

  ValueSource& source_of(const Setting& setting) {
    return loaded_.sources[static_cast<std::size_t>(&setting - settings_table().data())];
  }

  void complain(const Document& document, const Complaint& complaint) {
    complain(document.place_of(complaint.path), {complaint});
  }

  void complain(const std::string& place, const std::vector<Complaint>& complaints) {
    for (const auto& complaint : complaints) lines_.push_back(place + ": " + complaint.path + ": " + complaint.text);
  }

  void check_address(std::string_view name, const std::string& address) {
    if (is_loopback(address)) return;
    complain(source_of(*find_setting(name)).place,
             {{std::string(name), address + " can be reached from other machines, and no access token is asked for; " +
                                      "use 127.0.0.1 or ::1, or name a file in auth.tokens, or accept it with " +
                                      "auth.insecure=true"}});
  }

  void check_tls(std::string_view name) {
    const TlsSettings& tls = loaded_.values.tls;
    if (!tls.certificate.empty() && !tls.key.empty()) return;
    complain(
        source_of(*find_setting(name)).place,
        {{std::string(name), "TLS takes a certificate and its key; name their files in tls.certificate and tls.key"}});
  }

  static Complaint unknown(const std::string& name) {
    return {name, "unknown key; the nearest valid key is " + nearest_name(name)};
  }

  static const Setting* setting_of_variable(const std::string& variable) {
    for (const Setting& setting : settings_table()) {
      if (variable_of(setting) == variable) return &setting;
    }
    return nullptr;
  }

  static std::string nearest_variable(const std::string& variable) {
    std::vector<std::string> variables;
    for (const Setting& setting : settings_table()) variables.push_back(variable_of(setting));
    return nearest_at_any_distance(variable, variables);
  }

  LoadedSettings loaded_;
  std::vector<std::string> lines_;  // everything that is wrong
};

std::string_view word_of(Source source) {
  switch (source) {
    case Source::kBuiltIn: return "built-in";
    case Source::kFile: return "file";
    case Source::kEnvironment: return "environment";
    case Source::kCommandLine: return "command line";
  }
  return {};
}

}  // namespace

LoadedSettings load_settings(const SettingsRequest& request) {
  Loader loader;
  loader.check_built_in();
  if (const auto path = settings_path(request.path, request.environment)) loader.read_file(*path);
  loader.read_environment(request.environment);
  loader.read_command_line(request.assignments);
  loader.check_addresses();
  loader.check_tls();
  loader.check_presets(request);
  return loader.finish();
}

Json settings_report(const LoadedSettings& settings) {
  Json values = Json::object();
  const auto table = settings_table();
  for (std::size_t i = 0; i < table.size(); ++i) {
    const ValueSource& source = settings.sources[i];
    values[name_of(table[i])] = {
        {"value", shown_value(table[i], settings.values)}, {"origin", word_of(source.source)}, {"place", source.place}};
  }
  return {{"file", settings.file.empty() ? Json(nullptr) : Json(settings.file)}, {"values", std::move(values)}};
}

Reload reload(Settings& running, const Settings& fresh) {
  Reload result;
  for (const Setting& setting : settings_table()) {
    const Json value = value_of(setting, fresh);
    if (value == value_of(setting, running)) continue;
    if (setting.change == Change::kWhileRunning) {
      assign(setting, value, running);
      result.changed.push_back(name_of(setting));
    } else {
      result.need_restart.push_back(name_of(setting));
    }
  }
  return result;
}

}  // namespace rkllm_mcp
